// The room of custom texts: what somebody gave for what the loop says, held to being texts.
//
// They are somebody's code, asked in the middle of a run. One that fails, or gives what is no text, is named, and the run
// ends with that. While a run is being closed nobody is left to tell: our own words are said then.

import { text } from "../checks.ts";
import { messageOf, RondoError } from "../errors.ts";
import type { Rules } from "./rule.ts";
import { defaultTexts, type Texts } from "./texts.ts";

/** What failing words threw: they are told from whatever else throws around them. */
const failures = new WeakSet<object>();

/** Whether words of somebody's own failed. */
export const areWordsMissing = (thrown: unknown): thrown is RondoError => failures.has(thrown as RondoError);

/** Everything the loop says, some of it in somebody's own words. */
export function textsWith(own: Partial<Texts> = {}): Texts {
  const held = Object.entries(own).flatMap(([name, say]) =>
    say === undefined ? [] : [[name, heldToText(name, say as Say)]],
  );
  return { ...defaultTexts, ...Object.fromEntries(held) };
}

/** Does something in whatever words there are: our own, where somebody's fail. For what has to be said, whoever could. */
export function inAnyWords<Result>(rules: Rules, act: (rules: Rules) => Result): Result {
  try {
    return act(rules);
  } catch {
    return act({ ...rules, texts: defaultTexts });
  }
}

type Say = (...args: unknown[]) => unknown;

function heldToText(name: string, say: Say): Say {
  return (...args) => {
    let said: unknown;
    try {
      said = say(...args);
    } catch (thrown) {
      throw missing(name, messageOf(thrown), thrown);
    }
    const fault = text(said);
    // What the run's text would be without it is known.
    if (fault === undefined || (said === undefined && name === "landed")) return said;
    // Nobody waits for words; how they fail later is nobody's business either.
    const later = said as { catch?(heard: () => void): unknown } | null | undefined;
    if (typeof later?.catch === "function") later.catch(() => {});
    throw missing(name, fault.says);
  };
}

function missing(name: string, why: string, cause?: unknown): RondoError {
  const error = new RondoError("internal", `the text ${name} failed: ${why}`, { cause });
  failures.add(error);
  return error;
}
