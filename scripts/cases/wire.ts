// The room of wire bytes: a case's response as the pieces that a server sends.

import { Unsupported, type Wire } from "./format.ts";
import { generated } from "./generated.ts";
import { anthropicEnd, anthropicEvent, anthropicStart, chatChunk } from "./made-frames.ts";

/**
 * How a body is split on the network. `split`: its reader gets single bytes, as with `bytes`, but they are cut where it reads: the same
 * to whatever is above the HTTP client, at a quarter of the time.
 */
export type Chunking = "frames" | "bytes" | "whole" | "split";

export const chunkings: readonly Chunking[] = ["frames", "bytes", "whole"];
/** The same for many cases: what the HTTP client makes of single bytes need not be tried with each of them. */
export const quickChunkings: readonly Chunking[] = ["frames", "split", "whole"];

/** The format of a provider's bodies. */
export type Protocol = "anthropic" | "openai-chat" | "openai-responses" | "google" | "bedrock" | "ollama";

export interface Served {
  status: number;
  headers: Record<string, string>;
  /** Pieces as in the case; `frames[n - 1]` is frame n. */
  frames: Buffer[];
  eof: "clean" | "reset" | "hang" | "repeat_last";
  /** Added by the runner after the case's responses: a plain last answer. */
  madeUp: boolean;
  delayMs: number;
  /** Milliseconds between frames. */
  frameDelayMs?: number;
  /** How often the last frame is repeated, in milliseconds. */
  repeatMs?: number;
  /** Too long to send byte by byte. */
  long: boolean;
  /** The turn of the case, if it differs from its position. */
  turn?: number;
}

/** A response as bytes. @param fill replaces counters and names */
export function served(wire: Wire, fill: (text: string) => string): Served {
  const bodies = ["sse", "body", "body_text", "body_b64", "chunks_b64", "generated"].filter(
    (member) => member in wire,
  );
  if (bodies.length > 1) throw new Unsupported(`wire has several bodies: ${bodies.join(", ")}`);
  const frames = framesOf(wire, fill);
  return {
    status: wire.status ?? 200,
    headers: wire.headers ?? {},
    frames,
    eof: wire.eof ?? "clean",
    madeUp: false,
    delayMs: wire.delay_headers_ms ?? 0,
    frameDelayMs: wire.frame_delay_ms ?? 0,
    repeatMs: wire.repeat_interval_ms ?? 1000,
    long: frames.reduce((sum, frame) => sum + frame.length, 0) > 200_000,
  };
}

function framesOf(wire: Wire, fill: (text: string) => string): Buffer[] {
  if (wire.sse !== undefined) return wire.sse.map((frame) => Buffer.from(fill(frame)));
  if (wire.chunks_b64 !== undefined) return wire.chunks_b64.map((chunk) => Buffer.from(chunk, "base64"));
  if (wire.body_b64 !== undefined) return eventFrames(Buffer.from(wire.body_b64, "base64"));
  if (wire.body_text !== undefined) return [Buffer.from(fill(wire.body_text))];
  if (wire.generated !== undefined) return [generatedOnce(wire.generated)];
  if (wire.body !== undefined) return [Buffer.from(fill(JSON.stringify(wire.body)))];
  return [];
}

let lastGenerated: { given: string; body: Buffer } | undefined;

/** Cached: a case is played several times, and generating a long answer takes longer than reading it. */
function generatedOnce(wire: NonNullable<Wire["generated"]>): Buffer {
  const given = JSON.stringify(wire);
  if (lastGenerated?.given !== given) lastGenerated = { given, body: Buffer.from(generated(wire)) };
  return lastGenerated.body;
}

/** An AWS event stream, split into its messages: each begins with its own length. */
function eventFrames(body: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const length = at + 4 <= body.length ? body.readUInt32BE(at) : 0;
    const end = length > 0 ? Math.min(at + length, body.length) : body.length;
    frames.push(body.subarray(at, end));
    at = end;
  }
  return frames;
}

/** `$N` is the number of the request, `$ALIAS[i]` the i-th tool name in the request just received. */
export function filler(count: number, request: unknown): (text: string) => string {
  const names = toolNames(request);
  return (text) =>
    text
      .replace(/\$ALIAS\[(\d+)\]/g, (_all, at) => {
        const name = names[Number(at)];
        if (name === undefined)
          throw new Unsupported(`$ALIAS[${at}]: the request declares ${names.length} tools`);
        return name;
      })
      .replaceAll("$N", String(count));
}

/** Names of the tools declared in a request, in any protocol. */
export function toolNames(request: unknown): string[] {
  const body = (request ?? {}) as { tools?: unknown; toolConfig?: { tools?: unknown } };
  const list = body.tools ?? body.toolConfig?.tools;
  if (!Array.isArray(list)) return [];
  return (list as Record<string, { name?: string }>[]).flatMap((one) => {
    if (Array.isArray(one.functionDeclarations))
      return (one.functionDeclarations as { name: string }[]).map(({ name }) => name);
    const name = one.function?.name ?? one.toolSpec?.name ?? (one as { name?: unknown }).name;
    return typeof name === "string" ? [name] : [];
  });
}

// ---- the plain last answer ---------------------------------------------------------------------------------------

/** Served when a case has no more responses, in the protocol's format: a plain text that ends a run, or the summary that is asked for. */
export function plainAnswer(protocol: Protocol, summary: boolean = false): Served {
  const text = summary ? plainSummary : "That is all.";
  const frames = plainFrames(protocol, text).map((frame) => Buffer.from(frame));
  const headers = { "content-type": protocol === "bedrock" ? "application/json" : "text/event-stream" };
  return { status: 200, headers, frames, eof: "clean", madeUp: true, delayMs: 0, long: false };
}

/** Long enough to count as one: a loop may refuse a summary without content. */
const plainSummary: string =
  "The user asked for the report to be read. It was read, and what it says was told. Nothing was changed. Next: the newest request of the user.";

function plainFrames(protocol: Protocol, text: string): string[] {
  switch (protocol) {
    case "anthropic":
      return [
        anthropicStart(),
        anthropicEvent("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
        anthropicEvent("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
        anthropicEvent("content_block_stop", { index: 0 }),
        ...anthropicEnd("end_turn"),
      ];
    case "openai-chat":
      return [
        chatChunk({ role: "assistant", content: text }, null),
        chatChunk({}, "stop"),
        "data: [DONE]\n\n",
      ];
    case "openai-responses": {
      const content = [{ type: "output_text", text, annotations: [] }];
      const item = { type: "message", id: "msg_last", role: "assistant", status: "completed", content };
      const response = { id: "resp_last", object: "response", status: "completed", output: [item] };
      const event = { type: "response.completed", sequence_number: 0, response };
      return [`event: response.completed\ndata: ${JSON.stringify(event)}\n\n`];
    }
    case "google": {
      const candidate = { content: { role: "model", parts: [{ text }] }, finishReason: "STOP", index: 0 };
      return [`data: ${JSON.stringify({ candidates: [candidate] })}\r\n\r\n`];
    }
    case "ollama":
      return [
        `${JSON.stringify({ model: "m", message: { role: "assistant", content: text }, done: true, done_reason: "stop" })}\n`,
      ];
    case "bedrock":
      return [
        JSON.stringify({
          output: { message: { role: "assistant", content: [{ text }] } },
          stopReason: "end_turn",
          usage: { inputTokens: 10, outputTokens: 4, totalTokens: 14 },
        }),
      ];
  }
}
