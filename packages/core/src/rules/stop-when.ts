// The room of the stop rule: makes a rule of a function that says when a run should stop.
//
// The function gets a small view of the run. Stop conditions of the AI SDK look the same, but expect another view and would
// never stop anything here: so they are refused when they are given.

import { type Check, callable, checkGiven, membersOf, needed, oneOf, text } from "../checks.ts";
import type { Message, Usage } from "../message.ts";
import { oncePer } from "../once-per.ts";
import type { Decision, Rule } from "./rule.ts";

/** The view of a run that a stop function gets. */
export interface RunView {
  /** Number of answers so far. */
  steps: number;
  /** Number of calls that ran so far. */
  toolCalls: number;
  /** Input and output tokens of the run. */
  tokens: number;
  /** The same by kind, as far as providers reported it: `inputTokens`, `outputTokens`, … */
  usage: Usage;
  /** US dollars spent; undefined if unknown. */
  usd: number | undefined;
  /** Milliseconds since the run started. */
  ms: number;
  /** The text of the last answer. */
  lastText: string;
  /** All messages of the conversation so far, also those of earlier runs of its session. */
  messages: Iterable<Message>;
}

/**
 * A stop rule as a function: called before each model call except the first. `true`, or a string with the reason, stops the
 * run, which then lands. The function must be pure: the same view gives the same answer.
 */
export type StopRule = (run: RunView) => string | boolean | undefined;

export interface StopOptions {
  /** The rule's name in the run's end. Default: the function's own. */
  name?: string;
  /** `stop`: the run ends at once with the text so far, and the model is not asked again. Default: `land`. */
  onLimit?: "land" | "stop";
}

/** Checks that a function is a stop rule, and not a condition of the AI SDK. That one expects a list of steps: with a number it would never stop anything. */
export const stopRuleCheck: Check = (value) => {
  const fault = callable(value);
  if (fault !== undefined || !looksForList(value as StopRule)) return fault;
  return {
    at: "",
    says: "a stop rule is told how many steps there were, and this function looks for a list of them, as conditions of the AI SDK do: maxSteps(n), stopAfter(tool), or ({ steps, messages }) => steps >= n, is needed",
  };
};

/** Whether a function takes `steps` for a list. One whose source names `steps` is called once, which is harmless because it is pure, and its reads of `steps` are watched. */
const looksForList = oncePer((stop: StopRule): boolean => {
  if (!/\bsteps\b/.test(Function.prototype.toString.call(stop))) return false;
  let found = false;
  const steps = new Proxy(Object(0) as number & object, {
    get: (number, name) => {
      found ||= typeof name === "string" && !(name in number);
      return (Reflect.get(number, name) as Method | undefined)?.bind(number);
    },
  });
  try {
    const said = stop({ ...unbegun, steps }) as { catch?(heard: () => void): unknown } | null | undefined;
    // A function that returns a promise is refused when it is asked in a run.
    said?.catch?.(() => {});
  } catch {
    // Whether it throws on an empty view does not matter.
  }
  return found;
});

type Method = (this: unknown, ...given: never[]) => unknown;

const unbegun = { toolCalls: 0, tokens: 0, usage: {}, usd: undefined, ms: 0, lastText: "", messages: [] };

const stopWord = needed("a text, true or false, at once,", (value) => typeof value === "string");
const stopOptions = membersOf<StopOptions>({ name: text, onLimit: oneOf("land", "stop") });

/**
 * Makes a rule of a function.
 * @param how its name, and what happens when it stops the run; a string is the name
 * @throws RondoError `invalid_request` if `rule` is not a function, or for an unknown option
 */
export function stopWhen(stop: StopRule, how: string | StopOptions = {}): Rule {
  checkGiven(stopRuleCheck, stop, "stopWhen");
  const options = typeof how === "string" ? { name: how } : how;
  checkGiven(stopOptions, options, "stopWhen");
  const { name = stop.name || "stop_rule", onLimit = "land" } = options;
  return {
    name,
    version: 1,
    decide(_memory, state): Decision | undefined {
      const { run } = state;
      if (run === undefined || run.steps === 0) return undefined;
      const { steps, toolCalls, lastText } = run;
      const { tokens, usage, usd } = run.spend;
      // A copy: the function is user code, and the state is shared.
      const at = { tokens, usage: { ...usage }, usd, ms: state.now - run.startedAt };
      const view: RunView = { steps, toolCalls, ...at, lastText, messages: state.history };
      const said: string | boolean | null | undefined = stop(view);
      if (said === undefined || said === null || said === false) return undefined;
      // A promise would count as true.
      const fault = said === true ? undefined : stopWord(said);
      if (fault !== undefined) throw new TypeError(fault.says);
      return { do: onLimit, reason: "turn_stopped", evidence: { steps, said } };
    },
  };
}
