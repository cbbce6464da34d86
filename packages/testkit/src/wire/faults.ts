// The room of the wire's faults: what a provider's server or the network can do wrong, as plain data.
//
// They are items of a turn, like those of the scripted model (`say`, `call`, `think`, …). The position of a fault in the
// answer is given in bytes of the body, or in frames: a frame is one event of the stream.

import type { Json } from "@rondo/core";
import {
  anything,
  type Check,
  checkGiven,
  count,
  finite0,
  flag,
  listOf,
  membersOf,
  needed,
  oneOf,
  recordOf,
  text,
  whole,
} from "@rondo/core/checks";
import type { Turn } from "../scripted/turns.ts";
import type { Protocol } from "./reply.ts";
import type { Violation } from "./rules/violation.ts";

/** A position in the answer's body: after this many bytes, or after this many frames. */
export type Place = number | { frames: number };

/** How a connection ends before its time. */
export type CutHow =
  /** The body ends as if it were complete, as when a proxy gives up. */
  | "end"
  /** The connection is closed inside the body. */
  | "close"
  /** The connection is reset. */
  | "reset";

/** How a body is written to the socket: a frame at a time, a byte at a time, or all at once. */
export type Chunks = "frame" | "byte" | "whole";

/** Where and how a wait is told. */
export type WaitForm =
  /** `retry-after: 2` */
  | "seconds"
  /** `retry-after-ms: 1500` */
  | "ms"
  /** `retry-after: Sat, 21 Nov 2026 …`, beside a `date` of the same clock. */
  | "date"
  /** Google's `RetryInfo` in the body. */
  | "retry_info"
  /** "Please try again in 1.5s." */
  | "words"
  /** The reset times of exhausted limits, in the provider's own headers. */
  | "resets"
  | "none";

export interface StatusOptions {
  /** The provider's words. Default: what it says with this status. */
  message?: string;
  /** The provider's type or code, e.g. `overloaded_error`. Default: by status. */
  code?: string;
  /** A wait that is asked for, in milliseconds. */
  retryAfterMs?: number;
  /** Default: the provider's habit: `seconds`, at Google `retry_info`. */
  form?: WaitForm;
  headers?: Record<string, string>;
  /** Replaces the provider's error body: a value (sent as JSON) or a string. */
  body?: Json;
}

/** A word of the wire. Made by the functions of this file. */
export type WireAct =
  | { wire: "status"; status: number; options: StatusOptions }
  | { wire: "raw"; body: Json; status: number; headers: Record<string, string> }
  | { wire: "frames"; frames: readonly { event?: string; data: Json }[] }
  | { wire: "cut"; at: Place; how: CutHow }
  | { wire: "stall"; at: Place; pings: boolean }
  | { wire: "slow"; bytes: number; ms: number }
  | { wire: "delay"; ms: number }
  | { wire: "chunks"; chunks: Chunks }
  | { wire: "garbage"; text: string; frames: number }
  | { wire: "duplicate"; frame: number }
  | { wire: "corrupt"; at: number }
  | { wire: "content_type"; value: string }
  | { wire: "plain_json" }
  | { wire: "reset" };

/** What the server answers to one request: words in order, of the model or of the wire. Lists may be nested. */
export type WireTurn = Turn | WireAct | readonly WireTurn[];

/** A request as it came. */
export interface WireRequest {
  protocol: Protocol;
  method: string;
  /** With its query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  model: string;
  /** Whether a stream was asked for. */
  stream: boolean;
  /** Parsed; null when it is no JSON. */
  body: Json;
  /** As it came, byte for byte. */
  text: string;
  /** What its provider would refuse about it. */
  violations: readonly Violation[];
}

/** Decides a turn when its request comes. `number` counts the requests that reached the script, from 1. */
export type WireDecide = (request: WireRequest, number: number) => WireTurn | Promise<WireTurn>;

/** Turns in order, each a turn or a function of the request; or one function for all requests. */
export type WireScript = readonly (WireTurn | WireDecide)[] | WireDecide;

/** What HTTP has a place for behind its version. */
const statusCode: Check = needed(
  "a status from 200 to 599",
  (code) => Number.isInteger(code) && Number(code) >= 200 && Number(code) <= 599,
);
const statusGiven = membersOf<StatusOptions & { status: number }>(
  {
    status: statusCode,
    message: text,
    code: text,
    retryAfterMs: finite0,
    form: oneOf("seconds", "ms", "date", "retry_info", "words", "resets", "none"),
    headers: recordOf(text),
    body: anything,
  },
  ["status"],
);

/** Answers with this status and the provider's own error body. */
export function status(code: number, options: StatusOptions = {}): WireAct {
  checkGiven(statusGiven, { ...options, status: code }, "status");
  return { wire: "status", status: code, options };
}

const rawGiven = membersOf({ status: statusCode, headers: recordOf(text) });

/** Answers with this body as it is: a value (as JSON) or a text. */
export function raw(
  body: Json,
  options: { status?: number; headers?: Record<string, string> } = {},
): WireAct {
  checkGiven(rawGiven, options, "raw");
  return { wire: "raw", body, status: options.status ?? 200, headers: options.headers ?? {} };
}

const framesGiven = membersOf({
  list: listOf(
    membersOf(
      { event: text, data: needed("a text, or a value that is sent as JSON,", (data) => data !== undefined) },
      ["data"],
    ),
  ),
});

/** Streams these frames as they are, in the protocol's framing. `data` that is no text is sent as JSON. */
export function frames(list: readonly { event?: string; data: Json }[]): WireAct {
  checkGiven(framesGiven, { list }, "frames");
  return { wire: "frames", frames: list };
}

const inFrames = membersOf({ frames: whole }, ["frames"]);
const place: Check = (at) =>
  typeof at === "object" && at !== null
    ? inFrames(at)
    : needed(
        "a whole number of bytes, or { frames: a whole number },",
        (bytes) => whole(bytes) === undefined,
      )(at);
const cutGiven = membersOf({ at: place, how: oneOf("end", "close", "reset") }, ["at"]);

/** Ends the connection at a position of the body, which a shorter body never reaches. Default: as if it were complete. */
export function cutAt(at: Place, how: CutHow = "end"): WireAct {
  checkGiven(cutGiven, { at, how }, "cutAt");
  return { wire: "cut", at, how };
}

/** Sends nothing more from a position on, and keeps the connection open; with `pings` it keeps sending pings. */
export function stallAfter(at: Place, options: { pings?: boolean } = {}): WireAct {
  checkGiven(membersOf({ at: place, pings: flag }, ["at"]), { ...options, at }, "stallAfter");
  return { wire: "stall", at, pings: options.pings ?? false };
}

const slowGiven = membersOf({ bytesPerTick: count, ms: finite0 }, ["bytesPerTick"]);

/** Sends so many bytes at a time, and waits `ms` (default 0: one turn of the event loop) between. */
export function slow(bytesPerTick: number, ms: number = 0): WireAct {
  checkGiven(slowGiven, { bytesPerTick, ms }, "slow");
  return { wire: "slow", bytes: bytesPerTick, ms };
}

/** Waits before the first byte of the answer, its status among them. */
export function delayed(ms: number): WireAct {
  checkGiven(membersOf({ ms: finite0 }, ["ms"]), { ms }, "delayed");
  return { wire: "delay", ms };
}

const chunksGiven = membersOf<{ chunks: Chunks }>({ chunks: oneOf("frame", "byte", "whole") }, ["chunks"]);

/** How this answer's body is handed to the socket. Default: the server's `chunks`. */
export function chunked(chunks: Chunks): WireAct {
  checkGiven(chunksGiven, { chunks }, "chunked");
  return { wire: "chunks", chunks };
}

const garbageGiven = membersOf({ text, afterFrames: whole });

/** A frame of nonsense after so many frames. Default: after the first, which is inside of every answer; where there are fewer, behind the last, where a client need not look. */
export function garbage(text: string = "\u0000not json{", afterFrames: number = 1): WireAct {
  checkGiven(garbageGiven, { text, afterFrames }, "garbage");
  return { wire: "garbage", text, frames: afterFrames };
}

/** Sends one frame twice; frames count from 0. */
export function duplicate(frame: number): WireAct {
  checkGiven(membersOf({ frame: whole }, ["frame"]), { frame }, "duplicate");
  return { wire: "duplicate", frame };
}

/** Flips one bit of the body's byte at this position: checksums must notice. A shorter body is not changed. */
export function corrupt(at: number): WireAct {
  checkGiven(membersOf({ at: whole }, ["at"]), { at }, "corrupt");
  return { wire: "corrupt", at };
}

/** Labels the answer as something else. */
export function contentType(value: string): WireAct {
  checkGiven(membersOf({ value: text }, ["value"]), { value }, "contentType");
  return { wire: "content_type", value };
}

/** Answers a request for a stream with the whole answer as plain JSON. */
export function plainJson(): WireAct {
  return { wire: "plain_json" };
}

/** Resets the connection before anything is answered. */
export function reset(): WireAct {
  return { wire: "reset" };
}
