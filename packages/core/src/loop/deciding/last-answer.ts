// The room of a landing's last answer: how long it may take, and be retried, in a run whose time is limited.

import type { Rules } from "../../rules/rule.ts";
import { type Action, record } from "../action.ts";
import { freeAmounts } from "../children.ts";
import type { Run, RunState } from "../state.ts";
import { endUnanswered } from "./ending.ts";

/** When the time of a run that lands is up: it may land for another reason before that. Undefined if nothing limits it. */
function timeUp(state: RunState, { reason }: NonNullable<Run["landing"]>, rules: Rules): number | undefined {
  return reason === "deadline" ? state.run.startedAt : freeAmounts(state, rules).until;
}

/**
 * Whether a retry at this time comes too late for the last answer of a run whose time is limited: after its end only a wait as
 * short as that of an abort is left.
 */
export function comesTooLate(state: RunState, retryAt: number, rules: Rules): boolean {
  const { run, options, now } = state;
  const until = run.landing && timeUp(state, run.landing, rules);
  return until !== undefined && retryAt - Math.max(now, until) > options.abortGraceMs;
}

/** Ends a run that lands while a retry waits for longer than is left. */
export function endTooLate(state: RunState, rules: Rules): Action | undefined {
  const { notBefore = 0, landing } = state.run;
  if (landing === undefined || !comesTooLate(state, notBefore, rules)) return undefined;
  const waitMs = notBefore - state.now;
  const message = `the time is up before the model may be asked again: that would be after another ${waitMs} ms`;
  const error = { kind: "timeout" as const, message, retryable: true };
  return endUnanswered(state, rules, { rule: landing.rule, evidence: { waitMs }, error });
}

/** How long the last answer of a run whose time is up may take, unless its options say something else. */
const landingTimeoutMs = 60_000;

const lastAnswerMs = ({ options }: RunState): number => options.landing?.timeoutMs ?? landingTimeoutMs;

/** The last answer of a run whose time is limited, and by when it must be there; undefined if it is not being asked for, or nothing limits the time. */
export function lastAnswer(
  state: RunState,
  rules: Rules,
): { landing: NonNullable<Run["landing"]>; startedAt: number; due: number } | undefined {
  const { landing, call } = state.run;
  if (landing === undefined || call?.lands !== true) return undefined;
  const { startedAt } = call;
  const until = timeUp(state, landing, rules);
  return until === undefined
    ? undefined
    : { landing, startedAt, due: Math.max(startedAt, until) + lastAnswerMs(state) };
}

/** Cancels the last answer of a run whose time is up, and ends the run: neither a retry nor another model has time left. */
export function lastAnswerLate(state: RunState, rules: Rules): Action | undefined {
  const last = lastAnswer(state, rules);
  if (last === undefined || state.now < last.due) return undefined;
  const { reason, rule, evidence } = last.landing;
  const answerMs = state.now - last.startedAt;
  const message = `the time is up, and the last answer was not there within another ${lastAnswerMs(state)} ms (landing.timeoutMs)`;
  return record({
    type: "mode",
    mode: "stopping",
    reason,
    cancel: true,
    rule,
    evidence: { ...evidence, answerMs },
    error: { kind: "timeout", message, retryable: true },
  });
}
