// The room of a tool by itself: what it is executed with where no loop calls it.

import type { Provided, ToolContext } from "@rondo/core";
import { givenBy, resolver } from "@rondo/core/driving";

let calls = 0;

/**
 * Makes a tool's context, for a test that executes the tool directly: `await weather.execute({ city: "Oslo" }, toolContext())`.
 * There is no run behind it: its signal does not fire, and progress goes nowhere. Each context has its own idempotency key.
 * @param given members that replace the default ones (`{ signal, update }`), and `dependencies`: values for dependencies
 */
export function toolContext({
  dependencies,
  ...given
}: Partial<Omit<ToolContext, "deps" | "resolve">> & {
  dependencies?: readonly Provided[];
} = {}): ToolContext {
  calls += 1;
  const deps = givenBy(dependencies);
  return {
    signal: new AbortController().signal,
    idempotencyKey: `test/${calls}`,
    session: "test",
    callId: `call_${calls}`,
    messages: () => [],
    update: () => {},
    now: () => Date.now(),
    deps,
    resolve: resolver(deps),
    ...given,
  };
}
