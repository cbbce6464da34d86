// The room of what is said between the campaign and its thread.

import type { Json } from "@rondo/core";

export type Order =
  /** Inputs from a number on, until their count or the time is over; the first broken one ends it. */
  | { do: "run"; target: string; seed: number; from: number; count: number; ms: number }
  | { do: "try"; target: string; input: Json };

export interface Answer {
  ran: number;
  /** The last of them. */
  broken?: { input: Json; wrong: string };
}
