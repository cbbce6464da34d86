// The room of exit codes: what the exit code tells a script.
//
// Every end reason has one code; scripts depend on them, so a code never changes its meaning.

import type { EndReason, RunEnd } from "@rondo/core";

export const exitCodes = {
  completed: 0,
  /** The run, or the command, failed. */
  error: 1,
  /** The command line cannot be understood. */
  usage: 2,
  /** The run ended before the task was done: a limit, a rule, or answers that lead nowhere. */
  limit: 3,
  refused: 4,
  /** The run waits for an approval. */
  waiting: 5,
  /** By Ctrl-C or a signal. */
  aborted: 130,
  /** By SIGTERM, at a safe point: the run is open and can be resumed. */
  left: 143,
  /** The reader of the output has gone; the code that shells use for SIGPIPE. */
  readerGone: 141,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const byReason: { readonly [reason in EndReason]: ExitCode } = {
  completed: exitCodes.completed,
  done_tool: exitCodes.completed,
  max_steps: exitCodes.limit,
  token_budget: exitCodes.limit,
  cost_budget: exitCodes.limit,
  deadline: exitCodes.limit,
  duplicate_call: exitCodes.limit,
  tool_call_limit: exitCodes.limit,
  no_progress: exitCodes.limit,
  truncated: exitCodes.limit,
  empty_response: exitCodes.limit,
  unexpected_stop: exitCodes.limit,
  output_invalid: exitCodes.limit,
  turn_stopped: exitCodes.limit,
  refused: exitCodes.refused,
  requires_action: exitCodes.waiting,
  aborted: exitCodes.aborted,
  error: exitCodes.error,
};

/**
 * The code for a run's end reason. A best-effort answer at a limit has the code of the limit.
 * @param error the end's error, if any: a run that the provider broke off was not aborted here
 */
export function exitCodeOf(reason: EndReason, error?: RunEnd["error"]): ExitCode {
  if (reason === "aborted" && error !== undefined) return exitCodes.error;
  return byReason[reason];
}
