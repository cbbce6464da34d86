// The room of the stop rule: a function of a few lines that says when a run is to stop, made a rule.
//
// It is told what there is to know of a run, and no more. Whoever comes from the AI SDK has such functions already, which
// are told something else: those are refused where they are given, for a limit that never comes is heard of by nobody.

import { type Check, callable, checkGiven, membersOf, needed, oneOf, text } from "../checks.ts";
import type { Message } from "../message.ts";
import { oncePer } from "../once-per.ts";
import type { Decision, Rule } from "./rule.ts";

/** What a stop rule written as a function is told. */
export interface RunView {
  /** Answers so far. */
  steps: number;
  toolCalls: number;
  /** Input and output tokens of the run. */
  tokens: number;
  /** US dollars; undefined when unknown. */
  usd: number | undefined;
  /** Milliseconds since the run started. */
  ms: number;
  /** The text of the last answer. */
  lastText: string;
  /** All messages so far. */
  messages: Iterable<Message>;
}

/**
 * A stop rule as a function: asked before each model call but the first. A text or `true` stops the run, which then
 * lands. The function must be pure: the same view, the same answer.
 */
export type StopRule = (run: RunView) => string | boolean | undefined;

export interface StopOptions {
  /** Stands in the run's end. Default: the function's own. */
  name?: string;
  /** `stop`: the run ends at once, with what there is, and the model is not asked again. Default: `land`. */
  onLimit?: "land" | "stop";
}

/** A function that is a stop rule, and no condition of the AI SDK's, which is told a list of steps: of a number it would never stop anything. */
export const stopRuleCheck: Check = (value) => {
  const fault = callable(value);
  if (fault !== undefined || !looksForList(value as StopRule)) return fault;
  return {
    at: "",
    says: "a stop rule is told how many steps there were, and this function looks for a list of them, as conditions of the AI SDK do: maxSteps(n), or ({ steps, messages }) => steps >= n, is needed",
  };
};

/** Whether a function takes `steps` for a list. One that names them is asked once: it is pure, and what it looks for in them is seen. */
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
    // Who answers later is told so when asked in earnest.
    said?.catch?.(() => {});
  } catch {
    // What it makes of a run that has not begun is of no interest.
  }
  return found;
});

type Method = (this: unknown, ...given: never[]) => unknown;

const unbegun = { toolCalls: 0, tokens: 0, usd: undefined, ms: 0, lastText: "", messages: [] };

const stopWord = needed("a text, true or false, at once,", (value) => typeof value === "string");
const stopOptions = membersOf<StopOptions>({ name: text, onLimit: oneOf("land", "stop") });

/**
 * Makes a rule of a function.
 * @param how what comes of its yes; a text is its name
 * @throws RondoError `invalid_request` for what is no function, or an option that is none
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
      const { tokens, usd } = run.spend;
      const at = { tokens, usd, ms: state.now - run.startedAt };
      const view: RunView = { steps, toolCalls, ...at, lastText, messages: state.history };
      const said: string | boolean | null | undefined = stop(view);
      if (said === undefined || said === null || said === false) return undefined;
      // A promise would be taken for a yes.
      const fault = said === true ? undefined : stopWord(said);
      if (fault !== undefined) throw new TypeError(fault.says);
      return { do: onLimit, reason: "turn_stopped", evidence: { steps, said } };
    },
  };
}
