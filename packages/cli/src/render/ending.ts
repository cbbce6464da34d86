// The room of endings: the last lines of a run, for a person.

import type { Run, RunEnd } from "@rondo/core";
import type { Paint, Style } from "../console/console.ts";
import { oneLine, ruleText } from "../console/shorten.ts";
import { exitCodeOf, exitCodes } from "../exit-codes.ts";
import { costText, counted, spanText, spendText } from "./usage.ts";

/** Each end reason, explained to somebody who has not read the documentation. */
const meanings: { readonly [reason in RunEnd["reason"]]: string } = {
  completed: "completed",
  done_tool: "completed (a tool ended the run)",
  max_steps: "stopped at the limit of steps",
  token_budget: "stopped at the token budget",
  cost_budget: "stopped at the cost budget",
  deadline: "stopped at the time limit",
  duplicate_call: "stopped: the same call was repeated",
  tool_call_limit: "stopped at the limit of calls",
  no_progress: "stopped: no progress",
  truncated: "stopped: answers were cut off at the output limit",
  empty_response: "stopped: the model gave empty answers",
  unexpected_stop: "stopped: the model stopped unexpectedly",
  refused: "refused by the model",
  output_invalid: "stopped: the output did not fit its schema",
  requires_action: "stopped: calls are left for the caller",
  turn_stopped: "stopped by a rule or a person",
  aborted: "aborted",
  error: "failed",
};

/** How and why a run ended, on one line: an error before the rule that acted on it. Always contains the reason's own word. */
export function endText(end: RunEnd): string {
  const meaning = meanings[end.reason];
  const word = meaning.startsWith(end.reason) ? meaning : `${meaning} (${end.reason})`;
  const plainEnd = exitCodeOf(end.reason) === exitCodes.completed;
  const error = end.error === undefined ? "" : `, ${end.error.kind}: ${oneLine(end.error.message, 1_000)}`;
  const because = plainEnd ? "" : `${error === "" ? "," : ";"} ${ruleText(end)}`;
  return `${word}${error}${because}`;
}

/** The counts of a run: `3 steps (5 model calls), 2 calls, 1,200 tokens in, 34 out, 2.1 s`. Model calls only if they differ from steps. */
export function countsText(run: Run, ms: number): string {
  const asked = run.modelCalls === run.steps ? "" : ` (${counted(run.modelCalls, "model call")})`;
  return [
    `${counted(run.steps, "step")}${asked}`,
    counted(run.toolCalls, "call"),
    spendText(run.spend, run.modelCalls),
    costText(run.spend),
    spanText(ms),
  ]
    .filter((part) => part !== "")
    .join(", ");
}

/** Green for success, yellow for an early stop, red for a failure. */
export function endStyle(end: RunEnd): Style {
  const code = exitCodeOf(end.reason, end.error);
  if (code === exitCodes.completed) return "green";
  return code === exitCodes.error ? "red" : "yellow";
}

/** The last lines of a run. @param how a hint that leads to the run's record, if there is one */
export function endLines(end: RunEnd, run: Run, ms: number, how: string | undefined, paint: Paint): string[] {
  const landed = end.landed && run.text ? "; what there is so far is above" : "";
  return [
    paint(endStyle(end), `${endText(end)}${landed}`),
    paint("dim", countsText(run, ms)),
    ...(how === undefined ? [] : [paint("dim", how)]),
  ];
}
