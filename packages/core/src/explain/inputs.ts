// The room of an explanation's inputs: records, as a journal returns them, and rules, as a run was driven with them.
//
// A journal on disk returns a promise of records, one in memory the records themselves. A user who changes from one to the
// other gets this error, because a promise contains no records.

import { type Check, having, isPromise, listOf, needed, object } from "../checks.ts";
import { invalidRequest } from "../errors.ts";

const list = needed(
  "a list of records",
  (value) => typeof (value as { [Symbol.iterator]?: unknown } | null)?.[Symbol.iterator] === "function",
);

/** Records, in any iterable. */
export const records: Check = (value) => {
  const fault = list(value);
  return fault === undefined || !isPromise(value) ? fault : { ...fault, says: `${fault.says}: await it` };
};

/** The rules that records are folded with. */
export const rules: Check = having("Rules, e.g. of resolve(options),", { list: listOf(object) });

/** @throws RondoError `invalid_request` naming the function, its argument, what it was given, and what it needs */
export function checkOne(check: Check, value: unknown, name: string, owner: string): void {
  const fault = check(value);
  if (fault !== undefined) throw invalidRequest(`${owner}: argument ${name}${fault.at}: ${fault.says}`);
}
