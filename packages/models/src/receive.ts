// The room of receiving: the body of a successful response becomes an answer, whatever form it came in.
//
// The first character of a body tells its form better than the content type does: servers answer whole JSON to a request
// for a stream, label a stream as text, and send a proxy's page with a 200. Reading stops when the decoder is finished, not
// when the socket closes: some servers never close it.
//
// A piece of the body is decoded first, and its deltas are emitted after that. Listeners may do much, and mixing their work
// into the decoding is slower than doing one after the other: see `bench/RESULTS.md`.

import {
  type AssistantMessage,
  errorWith,
  type ModelEvent,
  type ModelIo,
  messageOf,
  RondoError,
} from "@rondo/core";
import type { Codec, Decoder, Frame, Target } from "./codec.ts";
import { parseExact } from "./exact-json.ts";
import { parsedFrame } from "./json-values.ts";
import { BinaryOrText, Body, type Framer } from "./receive/body.ts";
import { ClockBehind } from "./receive/clock-behind.ts";
import { type EventBuffer, eventBuffer } from "./receive/event-buffer.ts";
import { AnswerHead, explained } from "./receive/wrong-protocol.ts";
import { readErrorBody } from "./transport/error-body.ts";
import { classifyStreamError } from "./transport/errors.ts";
import type { HttpResponse } from "./transport/http.ts";
import { NdjsonDecoder } from "./transport/ndjson.ts";
import { waitingUnless } from "./transport/network.ts";
import { SseDecoder } from "./transport/sse.ts";

/**
 * Reads an answer.
 * @throws RondoError with `partial` and `usage` where some of the answer had arrived
 */
export async function receive(
  response: HttpResponse,
  codec: Codec,
  target: Target,
  io: Pick<ModelIo, "emit" | "clock" | "clocks">,
): Promise<AssistantMessage> {
  const news = eventBuffer<ModelEvent>();
  const head = new AnswerHead();
  try {
    return await read({ response, codec, target, io, news, head });
  } catch (thrown) {
    throw explained(thrown, head, codec, target);
  } finally {
    news.empty(io.emit);
  }
}

/** A response, what reads it, and what has been read so far. */
interface Reception {
  response: HttpResponse;
  codec: Codec;
  target: Target;
  io: Pick<ModelIo, "emit" | "clock" | "clocks">;
  /** Deltas to emit once the present piece of the body is decoded. */
  news: EventBuffer<ModelEvent>;
  /** How the answer began. */
  head: AnswerHead;
}

async function read(reception: Reception): Promise<AssistantMessage> {
  const { response, codec, target, io, news, head } = reception;
  const EventStream = codec.framing === "aws_event_stream" ? await eventStream(response) : undefined;
  const decoder = codec.decoder(target, news.push);
  const fed = feeding(decoder, reception);
  const framer = framerOf(codec, EventStream, decoder, fed.onFrame);
  const body = new Body(framer, codec.framing, target.stream !== false);
  const behind = new ClockBehind(response, io);
  let broke: RondoError | undefined;
  try {
    const take = (chunk: Uint8Array): boolean => {
      if (behind.ranOut) return false;
      head.bytes(chunk);
      const framed = body.take(chunk);
      if (framed.length === 0) return true;
      for (const piece of framed) framer.push(piece);
      const spoke = fed.tell();
      if (decoder.finished) return false;
      // Pings do not reset this clock.
      if (decoder.complete === true && (spoke || !behind.isWound)) behind.wind();
      return true;
    };
    await behind.outOr(() => response.read(take));
  } catch (thrown) {
    // An error after a whole answer does not count: in a piece of its own it would not have been read.
    if (decoder.finished && thrown !== fed.thrown()) return ended(decoder);
    const error =
      thrown instanceof RondoError
        ? thrown
        : new RondoError("protocol", unreadable(codec, thrown), { cause: thrown });
    // A connection that breaks after something arrived may have brought the finish signal already.
    if (error.kind !== "network" || head.frames.length === 0) throw withArrived(error, decoder);
    broke = error;
  } finally {
    behind.stop();
  }
  if (body.whole !== undefined) {
    const text = body.whole.text();
    head.frame(text);
    return decodeWhole(text, reception);
  }
  // What follows the decoder's end is not part of the answer: in another piece it would not have been read.
  const cut = !decoder.finished && endsInFrame(framer, decoder);
  return ended(decoder, broke, cut);
}

type EventStream = typeof import("./transport/event-stream.ts").EventStreamDecoder;

/** The binary framing's code, which is loaded where it is needed. */
async function eventStream(response: HttpResponse): Promise<EventStream> {
  try {
    return (await import("./transport/event-stream.ts")).EventStreamDecoder;
  } catch (thrown) {
    response.discard();
    throw thrown;
  }
}

function framerOf(
  codec: Codec,
  Binary: EventStream | undefined,
  decoder: Decoder,
  onFrame: (frame: Frame) => void,
): Framer {
  if (codec.framing === "ndjson") return new NdjsonDecoder(onFrame);
  const text = new SseDecoder(onFrame, decoder);
  return Binary === undefined ? text : new BinaryOrText(new Binary(onFrame), text);
}

interface Feeding {
  onFrame(frame: Frame): void;
  /** Hands over the deltas. @returns whether there were any */
  tell(): boolean;
  /** What the decoder or a listener threw. */
  thrown(): unknown;
}

/** The way from a frame to the listeners. */
function feeding(decoder: Decoder, { news, head, io }: Reception): Feeding {
  let failure: unknown;
  let saidEnd = false;
  const onFrame = (frame: Frame): void => {
    if (decoder.finished) return;
    head.frame(frame.data);
    try {
      decoder.push(frame);
      if (saidEnd || decoder.complete !== true || decoder.finished) return;
      // The end is not silence: the idle clock must not run out now and discard a complete answer. It is emitted here, at
      // its place in the stream, not once a piece: so the events do not depend on how the bytes were cut.
      saidEnd = true;
      news.push({ type: "progress" });
    } catch (thrown) {
      failure = thrown;
      throw thrown;
    }
  };
  const tell = (): boolean => {
    try {
      return news.empty(io.emit);
    } catch (thrown) {
      failure = thrown;
      throw thrown;
    }
  };
  return { onFrame, tell, thrown: () => failure };
}

/** The answer at the end of the body. `broke`: the error of a broken connection; `cut`: the body ends inside a frame. */
function ended(decoder: Decoder, broke?: RondoError, cut = false): AssistantMessage {
  try {
    return decoder.end();
  } catch (thrown) {
    if (thrown instanceof RondoError && thrown.kind === "stream_truncated" && (broke !== undefined || cut)) {
      const why = broke === undefined ? ", inside a frame" : `: ${broke.message}`;
      throw withArrived(errorWith(thrown, { message: thrown.message + why, cause: broke }), decoder);
    }
    throw withArrived(thrown, decoder);
  }
}

/** Decodes frames from another source, e.g. an SDK's client. Stops, and closes the source, when the answer is whole. */
export async function receiveFrames(
  frames: AsyncIterable<Frame>,
  decoder: Decoder,
  signal: AbortSignal,
): Promise<AssistantMessage> {
  const source = frames[Symbol.asyncIterator]();
  const waiting = waitingUnless(signal);
  try {
    for (;;) {
      const { done, value } = await waiting.for(source.next());
      if (done === true) break;
      decoder.push(value);
      if (decoder.finished) {
        close(source);
        break;
      }
    }
    return decoder.end();
  } catch (thrown) {
    close(source);
    throw withArrived(thrown, decoder);
  } finally {
    waiting.end();
  }
}

/** Closes a source, best effort: one that does not answer must not hold the call up. */
function close(source: AsyncIterator<Frame>): void {
  try {
    source.return?.()?.then(undefined, () => {});
  } catch {
    // It is being thrown away.
  }
}

function decodeWhole(text: string, { response, codec, target, news }: Reception): AssistantMessage {
  const body = parsedFrame({ parse: parseExact }, text);
  if (body === undefined) {
    const facts = readErrorBody(text);
    if (facts.html)
      throw new RondoError(
        "protocol",
        `${target.origin.provider} answered ${response.status} with a web page${facts.message === "" ? "" : ` titled "${facts.message}"`} instead of an answer: check the base URL, and whether a proxy wants a login`,
        { status: response.status },
      );
    throw new RondoError(
      "stream_truncated",
      `the answer of ${target.origin.provider} is JSON that was cut off`,
      {
        status: response.status,
      },
    );
  }
  // Words in the place of an answer.
  if (typeof body === "string")
    throw classifyStreamError(body, { provider: `${target.origin.provider}/${target.origin.model}` });
  return codec.decodeWhole(body, target, news.push);
}

/** An error with `partial` and `usage`, unless it has its own. */
function withArrived(thrown: unknown, decoder: Decoder): unknown {
  if (!(thrown instanceof RondoError) || thrown.partial !== undefined) return thrown;
  const partial = decoder.partial();
  const usage = thrown.usage ?? partial?.usage ?? decoder.usage;
  if (partial === undefined) return usage === undefined ? thrown : errorWith(thrown, { usage });
  const aborted = thrown.kind === "aborted";
  return errorWith(thrown, {
    partial: aborted ? { ...partial, stop: { ...partial.stop, kind: "aborted" } } : partial,
    usage,
  });
}

/** Whether the body ended inside a frame. The last line may be decoded only now. */
function endsInFrame(framer: Framer, decoder: Decoder): boolean {
  try {
    return framer.end();
  } catch (thrown) {
    throw withArrived(thrown, decoder);
  }
}

function unreadable(codec: Codec, thrown: unknown): string {
  return `the ${codec.api} decoder could not read a frame: ${messageOf(thrown)}`;
}
