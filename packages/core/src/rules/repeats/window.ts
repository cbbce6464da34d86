// The room of the window: the last calls of a run, and what repeats among them.
//
// The window is small and of a fixed size, so that looking through it costs the same at every step. A call is its name
// and its arguments, whatever the order of their keys; an outcome is what the model read of it.

import { canonical, digest } from "../../json/digest.ts";
import type { CallResult } from "../../loop/records.ts";
import type { Call } from "../../loop/state.ts";

/** A call that was made, and what came of it. */
export interface Entry {
  /** Name and arguments, in short. */
  readonly call: string;
  readonly tool: string;
  readonly outcome: string;
  /** There was no such tool. */
  readonly unknown: boolean;
  readonly poll: boolean;
}

/** The last calls, oldest first. */
export type Window = readonly Entry[];

/** The name of a call in a window: equal calls have equal names. */
export function nameOf(call: Call): string {
  return `${call.name}:${digest(call.argsError === undefined ? canonical(call.args) : call.rawArgs)}`;
}

export function entryOf(call: Call, result: CallResult, poll: boolean): Entry {
  const outcome = digest(JSON.stringify([result.isError, result.content]));
  const unknown = result.code === "unknown_tool";
  return { call: nameOf(call), tool: call.name, outcome, unknown, poll };
}

/** How often a call stands in the window. */
export function timesOf(window: Window, call: string): number {
  return window.filter((entry) => entry.call === call).length;
}

/** How often a call had its newest outcome in a row, other calls in between not counting. */
export function sameOutcomes(window: Window, call: string): number {
  const own = window.filter((entry) => entry.call === call);
  const newest = own.at(-1)?.outcome;
  const other = own.findLastIndex((entry) => entry.outcome !== newest);
  return own.length - 1 - other;
}

/** How often a tool that does not exist was called in a row, whatever the arguments. */
export function unknownInRow(window: Window, tool: string): number {
  const other = window.findLastIndex((entry) => !(entry.unknown && entry.tool === tool));
  return window.length - 1 - other;
}

/** Two calls that take turns at the end of the window. */
export interface Alternation {
  readonly length: number;
  /** The newest call. */
  readonly last: string;
  /** The call that would go on with it. */
  readonly next: string;
  /** Both had one outcome all along. */
  readonly stuck: boolean;
}

export function alternation(window: Window): Alternation | undefined {
  const last = window.at(-1);
  const before = window.at(-2);
  if (last === undefined || before === undefined || last.call === before.call) return undefined;
  let length = 0;
  let stuck = true;
  for (let at = window.length - 1; at >= 0; at -= 1) {
    const pattern = length % 2 === 0 ? last : before;
    const entry = window[at] as Entry;
    if (entry.call !== pattern.call) break;
    if (entry.outcome !== pattern.outcome) stuck = false;
    length += 1;
  }
  return { length, last: last.call, next: before.call, stuck };
}
