// The room of an explanation's inputs: records, as a journal reads them, and rules, as a run was driven with them.
//
// A journal on a disk gives a promise of its records, and one in memory the records: who changes the one for the other
// is told so here, for a promise has no records in it.

import { type Check, checkGiven, having, isPromise, listOf, needed, object } from "../checks.ts";

const list = needed(
  "a list of records",
  (value) => typeof (value as { [Symbol.iterator]?: unknown } | null)?.[Symbol.iterator] === "function",
);

/** Records, in whatever can be gone through. */
export const records: Check = (value) => {
  const fault = list(value);
  return fault === undefined || !isPromise(value) ? fault : { ...fault, says: `${fault.says}: await it` };
};

/** The rules that records are folded with. */
export const rules: Check = having("Rules, e.g. of resolve(options),", { list: listOf(object) });

/** @throws RondoError `invalid_request` naming who was given what, and what is needed */
export const checkOne = (check: Check, value: unknown, name: string, owner: string): void =>
  checkGiven(
    () => {
      const fault = check(value);
      return fault === undefined ? undefined : { at: `.${name}${fault.at}`, says: fault.says };
    },
    value,
    owner,
  );
