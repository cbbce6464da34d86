// The room of a journal's failures: whatever a journal throws is told as the journal's, with the function that failed.
//
// A journal of one's own throws what its disk or its database throws. Without these words nobody would know whose failure
// it is: a run stands between models, tools and hooks that may all throw the same.

import { isPromise, listOf, object } from "../checks.ts";
import { isA, messageOf, RondoError } from "../errors.ts";
import type { Journal } from "../journal.ts";
import type { LogRecord } from "../loop/records.ts";
import { whenThere } from "./maybe-async.ts";

type Asked = "append" | "read" | "lease" | "watch";

/**
 * What a journal's function gives; a promise only where it gives one.
 * @throws RondoError its own as it is; `storage` with the cause for anything else
 */
export function asked<Result>(what: Asked, session: string, ask: () => Result): Result {
  const failed = (thrown: unknown): never => {
    if (isA(RondoError, thrown)) throw thrown;
    throw new RondoError("storage", `${placeOf(what, session)} failed: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  };
  try {
    const result = ask();
    return isPromise(result) ? (Promise.resolve(result).catch(failed) as Result) : result;
  } catch (thrown) {
    return failed(thrown);
  }
}

/**
 * The records of a session from one on, as they were written; a promise only where the journal gives one.
 * @throws RondoError `storage` also for what is no list of records
 */
export function readRecords(
  journal: Journal,
  session: string,
  from?: number,
): LogRecord[] | Promise<LogRecord[]> {
  const given = asked("read", session, () =>
    from === undefined ? journal.read(session) : journal.read(session, from),
  );
  return whenThere(given, (records) => {
    const fault = list(records);
    if (fault === undefined) return records;
    throw new RondoError(
      "storage",
      `${placeOf("read", session)} gave no list of records: ${fault.at}${fault.at === "" ? "" : ": "}${fault.says}`,
    );
  });
}

const list = listOf(object);

const placeOf = (what: Asked, session: string): string =>
  `journal.${what} of session ${JSON.stringify(session)}`;
