// The room of endings: when a run ends, and with which reason, rule and evidence.

import type { ErrorData } from "../../errors.ts";
import { type AssistantMessage, answerTextOf, hasText, type JsonObject, userText } from "../../message.ts";
import type { Rules } from "../../rules/rule.ts";
import { type Action, record } from "../action.ts";
import type { Because, Fact, RunEnd } from "../records.ts";
import type { Run, RunState } from "../state.ts";
import { brokenOff, isWithheld } from "./withheld.ts";

/** Asks the model for the typed output, for the first time or again. */
export function askForOutput(attempt: number, state: RunState, rules: Rules): Action {
  const stored = state.options.output?.request === "stored";
  const words = stored ? rules.texts.finalOutput(state.run.checked?.error) : undefined;
  return record({
    type: "mode",
    mode: "output",
    attempt,
    ...(words === undefined ? {} : { message: userText(words) }),
    rule: "output",
    evidence: { attempt },
  });
}

/** Checks the text of a landed run against the schema of its typed output, once. */
export function checkLanded(state: RunState): Action | undefined {
  const { checked, lastText } = state.run;
  if (!landsTyped(state) || checked !== undefined) return undefined;
  return { do: "check_output", text: lastText };
}

/** Whether the run ends by a landing that should give a typed output. */
function landsTyped(state: RunState): boolean {
  const { landing, stopping } = state.run;
  if (landing === undefined || stopping === undefined || state.options.output === undefined) return false;
  return stopping.reason === landing.reason && stopping.error === undefined && stopping.text === undefined;
}

/** What follows if the output does not fit: another attempt, or the end. */
export function badOutput(state: RunState, rules: Rules): Action | undefined {
  const { checked, output } = state.run;
  if (checked === undefined || checked.ok) return undefined;
  const retries = output?.attempt ?? 0;
  const allowed = state.options.output?.decodeRetries ?? 0;
  if (retries < allowed) return askForOutput(retries + 1, state, rules);
  return end(state, invalidOutput(checked.error, { attempts: retries + 1 }));
}

function invalidOutput(error: string = "unknown", evidence: JsonObject): Why {
  const message = `the output does not fit its schema: ${error}`;
  return {
    reason: "output_invalid",
    rule: "output",
    evidence: { ...evidence, error },
    error: { kind: "structured_output", message, retryable: false },
  };
}

/** The fact that a model call, for an answer or a summary, was abandoned. */
export function givenUpModel(run: Run): Fact {
  const message = "the model's answer did not stop when it was told to, and was given up";
  const type = run.call === undefined ? "summary_failed" : "model_failed";
  return { type, error: { kind: "aborted", message, retryable: false } };
}

/** Judges an answer that arrived together with an abort: none of its calls runs. */
export function unjudgedAfterAbort(state: RunState, rules: Rules): Action | undefined {
  const { turn } = state.run;
  if (turn === undefined || turn.judged !== undefined) return undefined;
  const withheld = unlessThrown(true, () => isWithheld(state, rules));
  return record({
    type: "turn_judged",
    verdicts: turn.calls.map((call) => ({
      do: "answer",
      code: "not_executed",
      text: rules.texts.notExecuted(call.name),
    })),
    follows: { do: "stop", reason: "aborted" },
    store: !withheld && (hasText(turn.message) || turn.calls.length > 0),
    ...whyAborted(state.run),
  });
}

/** Who aborted the run: a person, the rule or listener that threw, or the driver that could not go on. */
function whyAborted({ abort }: Run): Because {
  const evidence = { reason: abort?.reason ?? "" };
  if (abort?.error === undefined) return { rule: "abort", evidence };
  return { rule: abort.rule ?? "driver", evidence: { ...evidence, failed: true } };
}

/** Ends an aborted run, keeping the part of an answer that had arrived. */
export function endAborted(state: RunState, rules: Rules): Action {
  const { abort, failure, unfinished } = state.run;
  const why = whyAborted(state.run);
  return end(
    state,
    abort?.error === undefined
      ? { reason: "aborted", ...why }
      : { reason: "error", ...why, error: abort.error },
    unlessThrown(undefined, () => brokenOff(failure?.partial ?? unfinished, state, rules)),
  );
}

/** Ends a run whose hook failed; undefined if none did. */
export function endBroken(state: RunState): Action | undefined {
  const { broken } = state.run;
  return broken && end(state, { reason: "error", rule: "hooks", evidence: {}, error: broken });
}

/** Ends a run that a judged turn, a rule, a tool or a denial has stopped. */
export function endStopped(state: RunState, rules: Rules): Action | undefined {
  const { stopping, checked } = state.run;
  if (stopping === undefined) return undefined;
  // A landing gives a valid value of the declared type, or ends as `output_invalid`.
  if (landsTyped(state) && checked?.ok === false)
    return end(state, invalidOutput(checked.error, { limit: stopping.reason, ...stopping.evidence }));
  const { text: _text, ...why } = stopping;
  return end(state, why, why.error && partOfLast(state, rules));
}

/** Ends a run without the answer it should have had: for this reason, or if it lands, for the reason of its landing, with what had arrived of that answer. */
export function endUnanswered(
  state: RunState,
  rules: Rules,
  why: { rule: string; evidence: JsonObject; error: ErrorData },
): Action {
  const { landing } = state.run;
  if (landing === undefined) return end(state, { reason: "error", ...why });
  const { reason, rule, evidence } = landing;
  const known = { ...evidence, ...why.evidence };
  return end(state, { reason, rule, evidence: known, error: why.error }, partOfLast(state, rules));
}

/** What rules say of a text in an aborted run. One that throws keeps it back: the run is over, and nothing else is asked of them. */
function unlessThrown<Said>(otherwise: Said, ask: () => Said): Said {
  try {
    return ask();
  } catch {
    return otherwise;
  }
}

/** What had arrived of a landing's answer that did not come whole. */
const partOfLast = (state: RunState, rules: Rules): AssistantMessage | undefined =>
  brokenOff(state.run.unfinished, state, rules);

/** Ends a run that was only to clear the history. Queued messages are for the next run. */
export const endClearing = (): Action => endWithoutAnswer("clearing");

/** Ends a run that was started for a queued message which was withdrawn before its delivery. */
export const endGoingOn = (): Action => endWithoutAnswer("continue");

/** Ends a run that was only to compact the history. */
export function endCompaction(state: RunState, rules: Rules): Action {
  const helped = state.compacted?.helped ?? false;
  return endWithoutAnswer("compaction", { helped }, rules.texts.compacted());
}

/** Ends a run in which there was nothing for a model to answer. */
function endWithoutAnswer(rule: string, evidence: JsonObject = {}, text: string = ""): Action {
  const end = { reason: "completed", rule, evidence, landed: false, resumable: true } as const;
  return record({ type: "run_ended", end, text });
}

type Why = Omit<RunEnd, "resumable" | "landed">;

/**
 * Ends the run. Every end names its rule and its evidence.
 * @param keep the part of an unfinished answer that had arrived: it is the run's text, and enters the history unless a landing's answers are kept out
 */
export function end(state: RunState, why: Why, keep?: AssistantMessage): Action {
  const { run, options } = state;
  const stored = run.landing !== undefined && options.landing?.keepOut === true ? undefined : keep;
  const landed = run.landing !== undefined && why.reason === run.landing.reason && why.error === undefined;
  return record({
    type: "run_ended",
    end: { ...why, landed, resumable: why.reason !== "refused" },
    text: run.stopping?.text ?? run.answer?.text ?? (keep === undefined ? run.lastText : answerTextOf(keep)),
    ...(stored === undefined ? {} : { keep: stored }),
  });
}
