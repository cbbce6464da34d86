// The room of judgement: a model's turn is judged once, in one record.
//
// The rules are asked in order, and the first that has a judgement decides what follows; then each call of the answer gets
// its verdict. A call runs only if it arrived complete, its tool exists, its request allowed it, its arguments fit, and no rule
// answers it instead.

import { answerTextOf, hasText } from "../../message.ts";
import type { ToolChoice } from "../../model.ts";
import { isRefused, wordsOf } from "../../rules/answers.ts";
import { evidenceOf, firstSaid, type Judgement, type Rule, type Rules } from "../../rules/rule.ts";
import { offeredTools } from "../offered-tools.ts";
import type { EndReason, Fact, Follows, ResultCode, Verdict } from "../records.ts";
import { toolChoiceOf } from "../request.ts";
import type { Call, Run, RunState } from "../state.ts";
import { comesTooLate } from "./last-answer.ts";
import { isWithheld } from "./withheld.ts";

type TurnJudged = Fact & { type: "turn_judged" };

/** The judgement of the failed call or the open turn. */
export function judgeTurn(state: RunState, rules: Rules): TurnJudged {
  const judged = firstJudgement(state, rules);
  const { turn, failure } = state.run;
  const calls = turn?.calls ?? [];
  const asksAgain = judged.follows.do === "ask_again";
  const store = failure === undefined && (judged.store ?? !asksAgain);
  // If an answer is not stored its calls must not run: the model would not know of them, and would make them again.
  const unkept = asksAgain && !store;
  // Not every model keeps to the tool choice, and not every server passes it on.
  const choice = state.options.disallowedCalls === "run" ? "auto" : toolChoiceOf(state);
  const verdicts = calls.map((call, at): Verdict => {
    if (judged.answerAll !== undefined) return answered(judged.answerAll.code, judged.answerAll.text(call));
    if (judged.follows.do === "stop" || judged.follows.do === "finish" || unkept)
      return answered("not_executed", rules.texts.notExecuted(call.name));
    return verdictOf(call, at, choice, state, rules);
  });
  return {
    type: "turn_judged",
    verdicts,
    follows: judged.follows,
    store,
    ...(judged.withheld === true ? { withheld: true as const } : {}),
    rule: judged.rule,
    evidence: judged.evidence,
  };
}

/** A call that does not run. */
const answered = (code: ResultCode, text: string): Verdict => ({ do: "answer", code, text });

/** A judgement with the name of the rule that made it. */
type Judged = Judgement & { rule: string; withheld?: boolean };

const judgedBy = (judgement: Judgement, { name: rule }: Rule): Judged => ({
  ...judgement,
  rule,
  evidence: evidenceOf(judgement),
});

function firstJudgement(state: RunState, rules: Rules): Judged {
  const landed = landedJudgement(state, rules);
  if (landed !== undefined) return landed;
  const judged = firstSaid(rules, state, "judge", [state, rules.texts], judgedBy);
  if (judged !== undefined) {
    const runs = judged.follows.do === "act" && judged.answerAll === undefined;
    if (!runs || state.options.autoExecuteTools) return judged;
    return { ...judged, follows: { do: "stop", reason: "requires_action" }, rule: "auto_execute_tools" };
  }
  // No rule has a judgement: a failure ends the run, an answer is final.
  const { failure } = state.run;
  const follows: Follows =
    failure === undefined ? { do: "finish" } : { do: "stop", reason: "error", error: failure.error };
  return { follows, rule: "default", evidence: {} };
}

/**
 * The answer of a landing's turn is the last one, whatever is in it, unless a rule will not have it stored; a failed call may be
 * retried by the retry rule. An answer that was requested before the landing and arrived all the same is the last one only if
 * it can be a final answer.
 */
function landedJudgement(state: RunState, rules: Rules): Judged | undefined {
  const { run } = state;
  if (run.landing === undefined) return undefined;
  const { reason, rule, evidence } = run.landing;
  const { text, withheld } = lastWords(state, rules, reason);
  const stop: Follows = { do: "stop", reason, ...(text === undefined ? {} : { text }) };
  if (run.failure !== undefined) {
    const retried = retriedLanding(state, rules);
    if (retried !== undefined) return retried;
    const { error } = run.failure;
    if (text !== undefined && error.kind !== "aborted")
      return { follows: stop, rule, evidence: { ...evidence, error: error.message } };
    return { follows: { do: "stop", reason, error }, rule, evidence };
  }
  const { output, landing } = state.options;
  const lands = run.turn?.lands === true;
  const isLast = lands || (output === undefined && answers(run));
  return {
    follows: isLast ? stop : { do: "act" },
    rule,
    evidence,
    store: storable(run) && !withheld && !(lands && landing?.keepOut === true),
    withheld,
    answerAll: { code: "limit", text: (call) => rules.texts.limitRefusal(call.name, reason) },
  };
}

/**
 * The text of a run that lands, if it is not simply that of its last answer; and whether a rule withholds that answer. A
 * refusal is not stored, so it must become the run's text to be read at all. A typed output is checked instead.
 */
function lastWords(
  state: RunState,
  rules: Rules,
  reason: EndReason,
): { text: string | undefined; withheld: boolean } {
  const { turn, lastText } = state.run;
  const message = turn?.message;
  const refusal = message !== undefined && isRefused(message) ? wordsOf(message) : undefined;
  const withheld = refusal === undefined && isWithheld(state, rules);
  const { texts } = rules;
  if (state.options.output !== undefined) return { text: undefined, withheld };
  if (withheld) return { text: texts.landed(reason, undefined) ?? lastText, withheld };
  const answer = refusal ?? (message === undefined ? undefined : answerTextOf(message));
  return { text: texts.landed(reason, answer) ?? (refusal === "" ? undefined : refusal), withheld };
}

/** Another attempt at a landing's answer, if a rule asks for one that there is time for, and no two have failed before. */
function retriedLanding(state: RunState, rules: Rules): Judged | undefined {
  if (state.run.failures >= 2) return undefined;
  return firstSaid(rules, state, "judge", [state, rules.texts], (judgement, one) => {
    const { follows } = judgement;
    const may = follows.do === "ask_again" && !comesTooLate(state, follows.until ?? 0, rules);
    return may ? judgedBy(judgement, one) : undefined;
  });
}

/** Whether an answer can be a run's last one: text without calls, or a refusal. */
const answers = ({ turn }: Run): boolean =>
  turn !== undefined && turn.calls.length === 0 && (hasText(turn.message) || isRefused(turn.message));

/** Whether an answer may be stored in the history: it is not empty, and not refused. */
function storable({ turn }: Run): boolean {
  const message = turn?.message;
  if (message === undefined) return false;
  if (["refusal", "content_filter", "malformed_call"].includes(message.stop.kind)) return false;
  return message.content.some(
    (part) => part.type !== "reasoning" && (part.type !== "text" || part.text.trim() !== ""),
  );
}

/**
 * @param at the call's position in the answer, from 0
 * @param choice the tool choice that the answer's calls must keep to
 */
function verdictOf(call: Call, at: number, choice: ToolChoice, state: RunState, rules: Rules): Verdict {
  const { texts } = rules;
  const max = state.options.maxCallsPerTurn;
  if (at >= max) return answered("too_many_calls", texts.tooManyCalls(call.name, max));
  if (!call.check.ok && call.check.code === "unknown_tool") {
    const known = offeredTools(state).map((tool) => tool.definition.name);
    return answered("unknown_tool", texts.unknownTool(call.name, known, call.argsError));
  }
  const only = typeof choice === "string" ? undefined : choice.tool;
  if (choice === "none" || (only !== undefined && call.name !== only))
    return answered("tool_choice", texts.notAllowed(call.name, only));
  if (!call.check.ok && call.argsError !== undefined)
    return answered("invalid_args", texts.badJson(call.name, call.argsError, call.rawArgs));
  if (!call.check.ok) return answered("invalid_args", texts.invalidArgs(call.name, call.check.error));
  const verdict = firstSaid(
    rules,
    state,
    "judgeCall",
    [call, state, texts],
    (said, { name: rule }): Verdict => {
      const { evidence } = said;
      return { rule, ...said, ...(evidence === undefined ? {} : { evidence: evidenceOf({ evidence }) }) };
    },
  );
  return verdict ?? { do: "run" };
}
