// The room of what may come at once or later: who acts on it acts at once where it can.
//
// A journal in memory or in a file of this machine answers at once, and then nothing else happens in between.

import { isPromise } from "../checks.ts";

/** Acts on what is there, or will be. A promise only where one was given. */
export function whenThere<What, Result>(
  what: What | Promise<What>,
  act: (what: What) => Result | Promise<Result>,
): Result | Promise<Result> {
  return isPromise(what) ? Promise.resolve(what).then(act) : act(what as What);
}
