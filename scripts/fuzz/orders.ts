// The room of the messages between the campaign and its thread.

import type { Json } from "@rondo/core";

export type Order =
  /** Try inputs from a number on, until the count or time is reached; the first broken one ends it. */
  | { do: "run"; target: string; seed: number; from: number; count: number; ms: number }
  | { do: "try"; target: string; input: Json };

export interface Answer {
  ran: number;
  /** The last input tried. */
  broken?: { input: Json; wrong: string };
}
