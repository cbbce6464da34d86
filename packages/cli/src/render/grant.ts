// The room of grants in words: what a grant covers, and how long it holds.

import type { Grant } from "@rondo/core";
import { timeText } from "./usage.ts";

/** E.g. `run_command with {"exact":{"command":"ls"}}, 3 times, until 2026-11-21 16:03:12 (grant grant_12_1)`. Not yet safe for a terminal. */
export function grantText({ id, tool, args, until, uses }: Grant): string {
  const what = args === undefined ? "any arguments" : JSON.stringify(args);
  const times = uses === undefined ? "" : `, ${uses} ${uses === 1 ? "time" : "times"}`;
  const end = until === undefined ? "" : `, until ${timeText(until)}`;
  return `${tool} with ${what}${times}${end} (grant ${id})`;
}
