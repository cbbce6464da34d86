// The room of a journal's failures: whatever a journal throws becomes an error that names the journal's function.
//
// A user's journal throws whatever its disk or its database throws. Without this nobody could tell where the failure came
// from: models, tools and hooks may throw the same.

import { isPromise, listOf, object } from "../checks.ts";
import { isA, messageOf, RondoError } from "../errors.ts";
import type { Journal } from "../journal.ts";
import type { LogRecord } from "../loop/records.ts";
import { whenThere } from "./maybe-async.ts";

type Asked = "append" | "read" | "lease" | "watch";

/**
 * The result of a journal's function; a promise only if the function returns one.
 * @throws RondoError unchanged; anything else becomes the cause of one of kind `storage`
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
 * The records of a session from one on, as they were written; a promise only if the journal returns one.
 * @throws RondoError `storage` also for a value that is no list of records
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
