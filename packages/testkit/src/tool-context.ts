// The room of a tool by itself: what it is executed with where no loop calls it.

import type { Provided, ToolContext } from "@rondo/core";
import { givenBy, resolver } from "@rondo/core/driving";

let calls = 0;

/**
 * What a tool works with, for a test that executes it by hand: `await weather.execute({ city: "Oslo" }, toolContext())`.
 * Nothing of a run is behind it: its signal does not fire, and its progress is told to nobody. Each has an idempotency key of its own.
 * @param given members to have in place of these (`{ signal, update }`), and `dependencies`: what is given for keys of tools
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
    callId: `call_${calls}`,
    update: () => {},
    now: () => Date.now(),
    deps,
    resolve: resolver(deps),
    ...given,
  };
}
