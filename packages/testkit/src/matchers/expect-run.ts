// The room of the plain form: the matchers for runners that have no `expect`, node:test among them.

import { AssertionError } from "node:assert/strict";
import { matched, type RondoMatchers, rondoMatchers } from "./matchers.ts";

/**
 * The matchers as assertions that throw, for any runner:
 *
 *     expectRun(result).toHaveCalled("weather", { city: "Paris" });
 *     expectRun(result).not.toHaveCalled("delete");
 *
 * @param subject what the matcher takes, see `RondoMatchers`
 * @throws AssertionError of node:assert, from each matcher that does not hold
 */
export function expectRun(subject: unknown): RondoMatchers & { not: RondoMatchers } {
  return { ...asserting(subject, true), not: asserting(subject, false) };
}

function asserting(subject: unknown, wanted: boolean): RondoMatchers {
  const names = Object.keys(rondoMatchers) as (keyof RondoMatchers)[];
  const entries = names.map((name) => {
    const assertion = (...args: unknown[]): void => {
      const { pass, message } = matched(name, subject, args);
      if (pass !== wanted)
        throw new AssertionError({ message: message(), operator: name, stackStartFn: assertion });
    };
    return [name, assertion];
  });
  return Object.fromEntries(entries) as RondoMatchers;
}
