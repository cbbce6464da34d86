// The room of termination policies: whether a run continues, as a pure function of the answer and the calls before it.
//
// A policy returns one of four decisions. It can be wrapped by another (duplicate detection) or combined with others
// (composite). `continueBy` makes a continue rule of one.

import {
  type Check,
  callable,
  checkGiven,
  checkMax,
  either,
  membersOf,
  orNull,
  unlimited,
  whole,
} from "../../checks.ts";
import { digest } from "../../json/digest.ts";
import { Tally } from "../../loop/log.ts";
import type { EndReason, Follows } from "../../loop/records.ts";
import { withRun } from "../../loop/state.ts";
import { answerTextOf, type JsonObject, type Stop } from "../../message.ts";
import type { Rule } from "../rule.ts";

/** An answer as a policy sees it. */
export interface Answer {
  stop: Stop;
  text: string;
  calls: readonly { name: string; args: JsonObject; rawArgs: string }[];
}

/** Why a policy ended a run at once. */
export type TerminationReason =
  | { reason: "completed" }
  | { reason: "max_steps"; steps: number }
  | { reason: "duplicate_call"; tool: string; count: number }
  | { reason: "tool_call_limit"; tool: string; count: number }
  | { reason: "unexpected_stop"; stop?: string }
  | { reason: "empty_response" };

export type PolicyDecision =
  | { decision: "continueWithTools" }
  | { decision: "continueWithThinking" }
  | { decision: "terminateWithOutput"; text: string }
  | { decision: "terminateImmediately"; because: TerminationReason };

/** The calls of a run before the current answer. */
export interface CallHistory {
  /** Number of the current answer, from 1. */
  step: number;
  /** How many calls of a tool there were, whatever their arguments. */
  named(tool: string): number;
  /** How many calls of a tool with the same arguments there were, as written. */
  equal(tool: string, rawArgs: string): number;
}

export type Policy = (answer: Answer, history: CallHistory) => PolicyDecision;

export const continueWithTools: PolicyDecision = { decision: "continueWithTools" };
export const continueWithThinking: PolicyDecision = { decision: "continueWithThinking" };

/** The run is complete. @param text the run's text, which a typed output is read from; mostly the answer's own */
export function terminateWithOutput(text: string): PolicyDecision {
  return { decision: "terminateWithOutput", text };
}

export function terminateImmediately(because: TerminationReason): PolicyDecision {
  return { decision: "terminateImmediately", because };
}

/** The stop reason comes first: `end_turn` ends the run whatever the answer contains; otherwise it continues if there are calls. */
export const byStopReasonPolicy: Policy = ({ stop, text, calls }) =>
  stop.wire === "end_turn" || calls.length === 0 ? terminateWithOutput(text) : continueWithTools;

/** The stop reason decides, except where providers misuse it: an answer with calls under `end_turn` continues. */
export const standardPolicy: Policy = ({ stop, text, calls }) => {
  const output = text === "" ? undefined : terminateWithOutput(text);
  const completed = terminateImmediately({ reason: "completed" });
  switch (stop.wire) {
    case "tool_use":
      return calls.length > 0
        ? continueWithTools
        : terminateImmediately({ reason: "unexpected_stop", stop: "tool_use without tool calls" });
    case "end_turn":
      return calls.length > 0 ? continueWithTools : (output ?? completed);
    case "max_tokens":
      return output ?? terminateImmediately({ reason: "unexpected_stop", stop: "max_tokens" });
    case "stop_sequence":
      return output ?? completed;
    default:
      if (calls.length > 0) return continueWithTools;
      return output ?? terminateImmediately({ reason: "empty_response" });
  }
};

/** How many calls may run; `Infinity`: any number. */
export const maxCalls: Check = either(unlimited, whole);

const duplicateLimits: Check = membersOf<{ maxDuplicates?: number; maxToolCallsPerTool?: number | null }>({
  maxDuplicates: maxCalls,
  maxToolCallsPerTool: orNull(maxCalls),
});

/**
 * A policy that ends the run instead of running a call too often.
 * @param limits.maxDuplicates equal calls that may run; default 2
 * @param limits.maxToolCallsPerTool calls of one tool that may run, whatever their arguments; default 5, `null`: any number
 */
export function duplicateDetection(
  policy: Policy = standardPolicy,
  limits: { maxDuplicates?: number; maxToolCallsPerTool?: number | null } = {},
): Policy {
  checkGiven(duplicateLimits, limits, "duplicateDetection");
  const { maxDuplicates = 2, maxToolCallsPerTool = 5 } = limits;
  return (answer, history) => {
    const decided = policy(answer, history);
    if (decided.decision !== "continueWithTools") return decided;
    for (const { name, rawArgs } of answer.calls) {
      const named = history.named(name);
      if (maxToolCallsPerTool !== null && named >= maxToolCallsPerTool)
        return terminateImmediately({ reason: "tool_call_limit", tool: name, count: named + 1 });
      const equal = history.equal(name, rawArgs);
      if (equal >= maxDuplicates)
        return terminateImmediately({ reason: "duplicate_call", tool: name, count: equal + 1 });
    }
    return decided;
  };
}

/** A policy that ends the run at its `max`th answer, whatever it contains; that answer is discarded. */
export function stepLimited(policy: Policy, max: number): Policy {
  checkMax(max, "stepLimited");
  return (answer, history) =>
    history.step >= max
      ? terminateImmediately({ reason: "max_steps", steps: history.step })
      : policy(answer, history);
}

/** The first policy that ends the run wins; otherwise the last one decides. */
export function composite(first: Policy, ...rest: readonly Policy[]): Policy {
  return (answer, history) => {
    let decided = first(answer, history);
    for (const policy of rest) {
      if (decided.decision.startsWith("terminate")) return decided;
      decided = policy(answer, history);
    }
    return decided;
  };
}

/** Makes a continue rule of a policy. Its history is the calls it has allowed, without those of the current answer. @throws RondoError `invalid_request` for anything that is not a policy */
export function continueBy(name: string, policy: Policy): Rule {
  checkGiven(callable, policy, "continueBy");
  // Counted by tool, and by tool and arguments.
  const rule: Rule<Tally> = {
    name,
    version: 1,
    init: () => Tally.empty(),
    fold: {
      turn_judged(made, { follows }, { run }) {
        const calls = (follows.do === "act" && run?.turn?.calls) || [];
        return calls.reduce((all, call) => all.add(call.name).add(equalKey(call.name, call.rawArgs)), made);
      },
    },
    judge(made, state) {
      const { turn, steps } = withRun(state).run;
      if (turn === undefined) return undefined;
      const { message, calls } = turn;
      const history: CallHistory = {
        step: steps + 1,
        named: (tool) => made.of(tool),
        equal: (tool, rawArgs) => made.of(equalKey(tool, rawArgs)),
      };
      const text = answerTextOf(message);
      const decided = policy({ stop: message.stop, text, calls }, history);
      // An answer that only reasons is stored, too; only one that replaces another is not.
      const store = decided.decision === "continueWithThinking" ? { store: true } : {};
      return { follows: followsFrom(decided, text), ...store, evidence: evidenceOf(decided, message.stop) };
    },
  };
  return rule;
}

/** Compares raw arguments: the order of keys matters. */
const equalKey = (tool: string, rawArgs: string): string => `${tool} ${digest(rawArgs)}`;

/** @param own the answer's text, which is the output unless the policy gives another */
function followsFrom(decided: PolicyDecision, own: string): Follows {
  switch (decided.decision) {
    case "continueWithTools":
      return { do: "act" };
    case "continueWithThinking":
      return { do: "ask_again" };
    case "terminateWithOutput":
      return decided.text === own ? { do: "finish" } : { do: "finish", text: decided.text };
    case "terminateImmediately": {
      const { reason } = decided.because;
      return { do: "stop", reason: reason satisfies EndReason, text: "" };
    }
  }
}

function evidenceOf(decided: PolicyDecision, stop: Stop): JsonObject {
  const { decision } = decided;
  const because = decided.decision === "terminateImmediately" ? decided.because : {};
  return { decision, wire: stop.wire, ...because };
}
