// The room of receiving: the body of a successful response becomes an answer, whatever form it came in.
//
// What a body is, its first character says better than its content type: servers answer whole JSON to a request for
// a stream, label a stream as text, and put a proxy's page behind a 200. Reading stops at the decoder's word, not at the
// socket's: some servers never close it.
//
// A piece of the body is decoded first, and what came of it is told then. Whoever listens may do much, and mixed into the
// decoding it would make one large thing of two small ones: see `bench/RESULTS.md`.

import {
  type AssistantMessage,
  errorWith,
  type Json,
  type ModelEvent,
  type ModelIo,
  RondoError,
  systemClock,
} from "@rondo/core";
import type { Codec, Decoder, Frame, Target } from "./codec.ts";
import { parseExact } from "./exact-json.ts";
import { readErrorBody } from "./transport/error-body.ts";
import type { HttpResponse } from "./transport/http.ts";
import { NdjsonDecoder } from "./transport/ndjson.ts";
import { SseDecoder } from "./transport/sse.ts";
import { Utf8Stream } from "./transport/utf8.ts";
import { Tray } from "./tray.ts";

/** Milliseconds. How long what may stand behind a finish signal is waited for, once the answer says nothing any more. */
const behindMs = 10_000;

/** Bytes become frames: all framings have the same face. */
interface Framer {
  push(chunk: Uint8Array): void;
  /** True when the stream was cut inside a frame. */
  end(): boolean;
}

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
  const news = new Tray<ModelEvent>();
  try {
    return await read(response, codec, target, news, io);
  } finally {
    news.empty(io.emit);
  }
}

async function read(
  response: HttpResponse,
  codec: Codec,
  target: Target,
  news: Tray<ModelEvent>,
  io: Pick<ModelIo, "emit" | "clock" | "clocks">,
): Promise<AssistantMessage> {
  const { clock = systemClock, emit } = io;
  const waitMs = Math.min(behindMs, (io.clocks?.idleMs ?? Number.POSITIVE_INFINITY) / 2);
  const binary = codec.framing === "aws_event_stream";
  const EventStream = binary
    ? (
        await import("./transport/event-stream.ts").catch((thrown: unknown) => {
          response.discard();
          throw thrown;
        })
      ).EventStreamDecoder
    : undefined;
  const note = (event: ModelEvent): void => news.push(event);
  const decoder = codec.decoder(target, note);
  let frames = 0;
  let saidEnd = false;
  let refused: unknown;
  const onFrame = (frame: Frame): void => {
    if (decoder.finished) return;
    frames += 1;
    try {
      decoder.push(frame);
      if (saidEnd || decoder.complete !== true || decoder.finished) return;
      // An end is no silence: the clock for that may be about to run out, and would take a whole answer for none.
      saidEnd = true;
      note({ type: "progress" });
    } catch (thrown) {
      refused = thrown;
      throw thrown;
    }
  };
  const tell = (): void => {
    try {
      news.empty(emit);
    } catch (thrown) {
      refused = thrown;
      throw thrown;
    }
  };
  const lines = codec.framing === "ndjson";
  const framer: Framer = lines
    ? new NdjsonDecoder(onFrame)
    : EventStream === undefined
      ? new SseDecoder(onFrame, () => decoder.likeness)
      : new EventStream(onFrame);
  /** What the body is, once its first character has said so. */
  const body: { frames?: true; whole?: WholeBody } = {};
  let blank: Uint8Array[] = [];
  let broke: RondoError | undefined;
  let waited = false;
  let stopClock: (() => void) | undefined;
  let stopWaiting = (): void => {};
  try {
    const heard = (chunk: Uint8Array): boolean => {
      if (waited) return false;
      if (body.frames === undefined && body.whole === undefined) {
        const first = firstCharacter(chunk);
        if (first === undefined) {
          blank.push(chunk);
          return true;
        }
        // Lines of JSON begin like a whole answer: there only what was asked for tells them apart.
        const json = (first === brace || first === bracket) && (!lines || target.stream === false);
        if (json || first === angle) body.whole = new WholeBody();
        else body.frames = true;
        for (const held of blank) (body.whole ?? framer).push(held);
        blank = [];
      }
      if (body.whole !== undefined) return body.whole.push(chunk);
      framer.push(chunk);
      const spoke = !news.isEmpty;
      tell();
      if (decoder.finished) return false;
      // Pings do not wind this clock.
      if (decoder.complete === true && (spoke || stopClock === undefined)) {
        stopClock?.();
        stopClock = clock.after(waitMs, stopWaiting);
      }
      return true;
    };
    await new Promise<void>((resolve, reject) => {
      // A server that leaves its connection open behind a whole answer must not make it a silent one.
      stopWaiting = (): void => {
        waited = true;
        response.discard();
        resolve();
      };
      response.read(heard).then(resolve, reject);
    });
  } catch (thrown) {
    // What stands behind a whole answer would not have been read, had it come in a piece of its own.
    if (decoder.finished && thrown !== refused) return ended(decoder);
    const error =
      thrown instanceof RondoError
        ? thrown
        : new RondoError("protocol", unreadable(codec, thrown), { cause: thrown });
    // A connection that breaks after something arrived may have brought the finish signal already.
    if (error.kind !== "network" || frames === 0) throw withArrived(error, decoder);
    broke = error;
  } finally {
    stopClock?.();
  }
  if (body.whole !== undefined) return decodeWhole(body.whole.text(), response, codec, target, note);
  const cut = settled(() => framer.end(), decoder);
  try {
    return decoder.end();
  } catch (thrown) {
    if (thrown instanceof RondoError && thrown.kind === "stream_truncated" && (broke !== undefined || cut))
      throw withArrived(
        errorWith(thrown, {
          message:
            broke === undefined ? `${thrown.message}, inside a frame` : `${thrown.message}: ${broke.message}`,
          cause: broke,
        }),
        decoder,
      );
    throw withArrived(thrown, decoder);
  }
}

function ended(decoder: Decoder): AssistantMessage {
  try {
    return decoder.end();
  } catch (thrown) {
    throw withArrived(thrown, decoder);
  }
}

/** Feeds frames that somebody else received, e.g. an SDK's client. Stops, and closes the source, when the answer is whole. */
export async function receiveFrames(
  frames: AsyncIterable<Frame>,
  decoder: Decoder,
  signal: AbortSignal,
  aborted: () => RondoError,
): Promise<AssistantMessage> {
  const source = frames[Symbol.asyncIterator]();
  let leave: (error: RondoError) => void = () => {};
  const gone = new Promise<never>((_, reject) => {
    leave = reject;
  });
  gone.catch(() => {});
  const onAbort = (): void => leave(aborted());
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    for (;;) {
      const { done, value } = await Promise.race([source.next(), gone]);
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
    signal.removeEventListener("abort", onAbort);
  }
}

/** Best effort: a source that does not answer must not keep us. */
function close(source: AsyncIterator<Frame>): void {
  try {
    source.return?.()?.then(undefined, () => {});
  } catch {
    // It is being thrown away.
  }
}

function decodeWhole(
  text: string,
  response: HttpResponse,
  codec: Codec,
  target: Target,
  emit: (event: ModelEvent) => void,
): AssistantMessage {
  let body: Json;
  try {
    body = parseExact(text);
  } catch {
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
  return codec.decodeWhole(body, target, emit);
}

/** An error with what had arrived, where it does not say so itself. */
function withArrived(thrown: unknown, decoder: Decoder): unknown {
  if (!(thrown instanceof RondoError) || thrown.partial !== undefined) return thrown;
  const partial = decoder.partial();
  if (partial === undefined) return thrown;
  const aborted = thrown.kind === "aborted";
  return errorWith(thrown, {
    partial: aborted ? { ...partial, stop: { ...partial.stop, kind: "aborted" } } : partial,
    usage: thrown.usage ?? partial.usage,
  });
}

function settled<T>(run: () => T, decoder: Decoder): T {
  try {
    return run();
  } catch (thrown) {
    throw withArrived(thrown, decoder);
  }
}

function unreadable(codec: Codec, thrown: unknown): string {
  return `the ${codec.api} decoder could not read a frame: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
}

class WholeBody {
  readonly #utf8 = new Utf8Stream();
  readonly #pieces: string[] = [];
  #length = 0;

  push(chunk: Uint8Array): boolean {
    const piece = this.#utf8.decode(chunk);
    this.#length += piece.length;
    if (this.#length > maxWholeChars)
      throw new RondoError(
        "protocol",
        `an answer of more than ${maxWholeChars} characters came: this is no answer`,
      );
    this.#pieces.push(piece);
    return true;
  }

  text(): string {
    return this.#pieces.join("") + this.#utf8.end();
  }
}

const maxWholeChars = 256 * 1024 * 1024;
const brace = 0x7b;
const bracket = 0x5b;
const angle = 0x3c;

/** The first byte that is neither white space nor part of a byte order mark. */
function firstCharacter(chunk: Uint8Array): number | undefined {
  for (const byte of chunk) {
    const blank =
      byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0xef || byte === 0xbb || byte === 0xbf;
    if (!blank) return byte;
  }
  return undefined;
}
