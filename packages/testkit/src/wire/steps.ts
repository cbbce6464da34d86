// The room of the steps: what a server is to send, and what is to go wrong meanwhile, as data.

import type { Gate } from "../scripted/turns.ts";
import type { Chunks, CutHow, Place } from "./faults.ts";

/** What the server does, in order. */
export type Step =
  /** `element`: it is one of the stream's JSON array. */
  | { do: "bytes"; bytes: Uint8Array; element?: true }
  | { do: "wait"; gate: Gate; deaf: boolean }
  | { do: "tick" }
  /** Ends the connection inside the body. */
  | { do: "break"; how: "close" | "reset" }
  /** Never goes on. */
  | { do: "stall" };

export interface Plan {
  status: number;
  headers: Record<string, string>;
  steps: Step[];
  /** The body is a stream of frames, not one document. */
  streams: boolean;
  /** The stream is one JSON array (Google's without `alt=sse`); one that breaks off is left open. */
  array: "closed" | "open" | undefined;
  /** What says that the server is alive. */
  ping: Uint8Array;
  delayMs: number;
  chunks: Chunks | undefined;
  slow: { bytes: number; ms: number } | undefined;
  cut: { at: Place; how: CutHow } | undefined;
  stall: { at: Place; pings: boolean } | undefined;
  /** Nothing is answered: the connection is reset. */
  reset: boolean;
}
