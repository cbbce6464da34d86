// The room of the window: the last calls of a run, and which of them are repeated.
//
// The window has a small fixed size, so that searching it costs the same at every step. Calls are equal if they have the
// same name and arguments, in any order of keys; an outcome is what the model read as the result.

import { canonical, digest } from "../../json/digest.ts";
import type { CallResult } from "../../loop/records.ts";
import type { Call } from "../../loop/state.ts";

/** A call that was made, and its outcome. */
export interface Entry {
  /** Digest of name and arguments. */
  readonly call: string;
  readonly tool: string;
  readonly outcome: string;
  /** There was no such tool. */
  readonly unknown: boolean;
  readonly poll: boolean;
}

/** The last calls, oldest first. */
export type Window = readonly Entry[];

/** The digest of a call: equal calls have equal digests. */
export function nameOf(call: Call): string {
  return `${call.name}:${digest(call.argsError === undefined ? canonical(call.args) : call.rawArgs)}`;
}

export function entryOf(call: Call, result: CallResult, poll: boolean): Entry {
  const outcome = digest(JSON.stringify([result.isError, result.content]));
  const unknown = result.code === "unknown_tool";
  return { call: nameOf(call), tool: call.name, outcome, unknown, poll };
}

/** How often a call occurs in the window. */
export function timesOf(window: Window, call: string): number {
  return window.filter((entry) => entry.call === call).length;
}

/** How often in a row a call had its newest outcome, not counting other calls in between. */
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

/** Two calls that alternate at the end of the window. */
export interface Alternation {
  readonly length: number;
  /** The newest call. */
  readonly last: string;
  /** The call that would continue the pattern. */
  readonly next: string;
  /** Each of them always had the same outcome. */
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
