// The room of unusual answers: refused, paused, cut off, malformed, empty.
//
// Each is a small rule with its own bound, asked in this order before the continue rule looks at the content.
// An answer that is asked for again is not stored; no call of a cut-off or malformed answer runs.

import { type Check, checkGiven, checkMax, membersOf, oneOf, whole } from "../checks.ts";
import type { ErrorData } from "../errors.ts";
import { stepSettings } from "../loop/request/step-settings.ts";
import { modelInUse, type State, withRun } from "../loop/state.ts";
import { type AssistantMessage, hasText, type Stop, textOf } from "../message.ts";
import type { Judgement, Rule } from "./rule.ts";

/** A rule whose memory is the number of its own judgements in the run. */
export function counting(name: string, judge: NonNullable<Rule<number>["judge"]>): Rule<number> {
  return {
    name,
    version: 1,
    init: () => 0,
    fold: { turn_judged: (count, { rule }) => (rule === name ? count + 1 : count) },
    judge,
  };
}

/** The same, but the number of its own judgements in a row. A model call that failed between two answers is none of them. */
function countingInARow(name: string, judge: NonNullable<Rule<number>["judge"]>): Rule<number> {
  return {
    ...counting(name, judge),
    version: 2,
    fold: {
      turn_judged(count, { rule }, { run }) {
        if (run?.failure !== undefined) return count;
        return rule === name ? count + 1 : 0;
      },
    },
  };
}

/** Ends the run if the answer is a refusal, with the refusal's text. The answer is not stored: sent again with the history, it would be refused again. */
export function refusals(): Rule {
  return {
    name: "refusals",
    version: 1,
    judge(_memory, state): Judgement | undefined {
      const message = state.run?.turn?.message;
      if (message === undefined) return undefined;
      const { stop } = message;
      if (!isRefused(message)) return undefined;
      return {
        follows: { do: "stop", reason: "refused", text: wordsOf(message) },
        store: false,
        evidence: { stop: stop.kind, ...providersWords(stop) },
      };
    },
  };
}

/** The provider's explanation of why an answer ended, as evidence. */
function providersWords({ raw, detail }: Stop): { raw?: string; detail?: string } {
  return { ...(raw === undefined ? {} : { raw }), ...(detail === undefined ? {} : { detail }) };
}

/** Whether the answer is a refusal, or was filtered. */
export function isRefused({ stop }: AssistantMessage): boolean {
  return stop.kind === "refusal" || stop.kind === "content_filter";
}

/** The text of a refusal: the refusal part, the answer's text, or the provider's explanation. */
export function wordsOf(message: AssistantMessage): string {
  const refusal = message.content.map((part) => (part.type === "refusal" ? part.text : "")).join("");
  return refusal || textOf(message) || message.stop.detail || "";
}

/** Sends a paused answer back unchanged, so that the model continues it. @param max how often in a row. Default: 5 */
export function pauses(max: number = 5): Rule<number> {
  checkMax(max, "pauses");
  return countingInARow("pauses", (count, state): Judgement | undefined => {
    const turn = state.run?.turn;
    if (turn?.message.stop.kind !== "pause" || turn.calls.length > 0) return undefined;
    const evidence = { resumes: count, max };
    if (count < max) return { follows: { do: "ask_again" }, store: true, evidence };
    return { follows: { do: "stop", reason: "unexpected_stop" }, evidence: { ...evidence, stop: "pause" } };
  });
}

/** What happens to the calls of an answer that was cut off at the output limit. */
export type OnTruncated = "fail_calls" | "run_complete" | "ignore_calls";

export const onTruncatedCheck: Check = oneOf("fail_calls", "run_complete", "ignore_calls");

const truncationsOptions: Check = membersOf<{ max?: number; onTruncated?: OnTruncated }>({
  max: whole,
  onTruncated: onTruncatedCheck,
});

/**
 * Judges an answer that was cut off at the output limit. Text alone ends the run as `truncated`, with the text so far. Calls
 * do not run: first the limit is raised once, if the model allows it; then they are answered with what happened; after
 * `max` such answers the run lands.
 */
export function truncations(options: { max?: number; onTruncated?: OnTruncated } = {}): Rule<number> {
  checkGiven(truncationsOptions, options, "truncations");
  const { max = 2, onTruncated = "fail_calls" } = options;
  return counting("truncations", (count, state, texts) => {
    const turn = state.run?.turn;
    if (turn === undefined) return undefined;
    const { stop } = turn.message;
    if (stop.kind !== "max_tokens" && stop.kind !== "context_overflow") return undefined;
    const evidence = { truncations: count + 1, max, stop: stop.kind };
    const raised = stop.kind === "max_tokens" ? raisedLimit(state) : undefined;
    const blank = !hasText(turn.message);
    const again: Judgement | undefined =
      raised === undefined
        ? undefined
        : {
            follows: { do: "ask_again", maxOutputTokens: raised },
            evidence: { ...evidence, maxOutputTokens: raised },
          };
    if (turn.calls.length === 0) {
      if (blank && again !== undefined) return again;
      return { follows: { do: "stop", reason: "truncated", ...cutOutput(state) }, store: !blank, evidence };
    }
    if (onTruncated === "run_complete") return undefined;
    if (onTruncated === "ignore_calls")
      return {
        follows: blank ? { do: "stop", reason: "truncated" } : { do: "finish" },
        evidence,
        answerAll: { code: "not_executed", text: (call) => texts.notExecuted(call.name) },
      };
    if (count === 0 && again !== undefined) return again;
    return {
      follows: count < max ? { do: "act" } : { do: "land", reason: "truncated" },
      evidence,
      answerAll: { code: "truncated_args", text: (call) => texts.truncatedCall(call.name) },
    };
  });
}

/** A typed output that was cut off does not count, even if what arrived could be parsed. */
function cutOutput(state: State): { error?: ErrorData } {
  const schema = withRun(state).options.output;
  if (schema === undefined) return {};
  const message =
    "the output was cut off at the output limit: raise settings.maxOutputTokens, or ask for less";
  return { error: { kind: "structured_output", message, retryable: false } };
}

/** The model's own output limit, if it is known and higher than the one that was asked for. */
function raisedLimit(state: State): number | undefined {
  const asking = withRun(state);
  const { run, options } = asking;
  const limit = options.models[modelInUse(run)]?.facts.maxOutputTokens;
  const asked = run.maxOutputTokens ?? stepSettings(asking).maxOutputTokens;
  return limit === undefined || asked === undefined || asked >= limit ? undefined : limit;
}

/** Asks again if an answer's calls could not be parsed, at most `max` times in a row (default 2); then the run ends as `error`. Such an answer is not stored. */
export function malformedCalls(max: number = 2): Rule<number> {
  checkMax(max, "malformedCalls");
  return countingInARow("malformed_calls", (count, state, texts): Judgement | undefined => {
    const turn = state.run?.turn;
    if (turn === undefined) return undefined;
    const { stop } = turn.message;
    const announced = stop.wire === "tool_use" && turn.calls.length === 0 && !hasText(turn.message);
    if (stop.kind !== "malformed_call" && !announced) return undefined;
    const evidence = {
      error: "malformed_tool_call",
      retries: count,
      max,
      ...providersWords(stop),
    };
    if (count < max) {
      // A call that the provider itself reports as malformed is mostly an accident: the first retry is the same request. The model
      // gets a note if it happens again, and at once if it wrote a call into its text, because it would do so again.
      const accident = announced || stop.wire === "malformed_call";
      const note = accident && count === 0 ? {} : { note: texts.malformedCall(stop.detail) };
      return { follows: { do: "ask_again", ...note }, evidence };
    }
    const message = `the model's tool calls could not be read ${count + 1} times in a row${stop.detail === undefined ? "" : `: ${stop.detail}`}`;
    const error = { kind: "malformed_tool_call" as const, message, retryable: false };
    return { follows: { do: "stop", reason: "error", error }, store: false, evidence };
  });
}

/** Asks again, with a note, if an answer has neither text nor files nor calls (reasoning alone is not an answer): at most `max` times per run (default 1), then the run ends as `empty_response`. */
export function emptyAnswers(max: number = 1): Rule<number> {
  checkMax(max, "emptyAnswers");
  return {
    ...counting("empty_answers", (count, state, texts): Judgement | undefined => {
      const turn = state.run?.turn;
      if (turn === undefined || turn.calls.length > 0 || hasText(turn.message)) return undefined;
      // A model that draws may answer with the picture alone.
      if (turn.message.content.some(({ type }) => type === "file")) return undefined;
      const evidence = { error: "empty_response", nudges: count, max };
      const thought = turn.message.content.some(
        (part) => part.type === "reasoning" && part.text.trim() !== "",
      );
      if (count < max) return { follows: { do: "ask_again", note: texts.emptyAnswer(thought) }, evidence };
      return { follows: { do: "stop", reason: "empty_response" }, store: false, evidence };
    }),
    version: 3,
  };
}
