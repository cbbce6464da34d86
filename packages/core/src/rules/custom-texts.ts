// The room of custom texts: the user's functions for the loop's texts, checked to return strings.
//
// They are user code, called during a run. If one throws, or returns anything but a string, the run ends with an error
// that names it. While a run is being closed, the built-in texts are used instead.

import { text } from "../checks.ts";
import { messageOf, RondoError } from "../errors.ts";
import type { Rules } from "./rule.ts";
import { defaultTexts, type Texts } from "./texts.ts";

/** Errors thrown by custom texts, to tell them from other errors. */
const failures = new WeakSet<object>();

/** Whether this error was thrown by a custom text. */
export const areWordsMissing = (thrown: unknown): thrown is RondoError => failures.has(thrown as RondoError);

/** All of the loop's texts, some of them replaced by the user's. */
export function textsWith(own: Partial<Texts> = {}): Texts {
  const held = Object.entries(own).flatMap(([name, say]) =>
    say === undefined ? [] : [[name, heldToText(name, say as Say)]],
  );
  return { ...defaultTexts, ...Object.fromEntries(held) };
}

/** Calls `act` with the given texts, or with the built-in ones if that throws: for what must be done in any case. */
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
    // Without this text the run's text is known anyway.
    if (fault === undefined || (said === undefined && name === "landed")) return said;
    // A promise is refused, and its later rejection ignored.
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
