// The room of values that may be promises: acts at once if the value is there already.
//
// A journal in memory or in a local file answers at once, and then nothing else can happen in between.

import { isPromise } from "../checks.ts";

/** Calls a function with a value or, for a promise, when it resolves. Returns a promise only if it was given one. */
export function whenThere<What, Result>(
  what: What | Promise<What>,
  act: (what: What) => Result | Promise<Result>,
): Result | Promise<Result> {
  return isPromise(what) ? Promise.resolve(what).then(act) : act(what as What);
}
