// The room of the checks that every journal makes before it stores anything.
//
// All journals use the same error texts: a user who changes journals need not learn new ones.

import { invalidRequest, RondoError } from "../errors.ts";
import type { LogRecord } from "../loop/records.ts";

/**
 * @throws RondoError `invalid_request`: half a surrogate pair has no UTF-8, and C strings end at NUL, so two such ids
 * could become the same in a file.
 */
export function checkSessionId(session: string): void {
  const fits =
    typeof session === "string" && session !== "" && session.isWellFormed() && !session.includes("\0");
  if (!fits)
    throw invalidRequest(
      `${JSON.stringify(session)} cannot be a session id: it must be a non-empty string of whole characters without NUL`,
    );
}

/**
 * What every journal checks before it appends; for authors of journals.
 * @param length the number of records the session has now.
 * @throws RondoError `invalid_request`: a session id that cannot be stored, or records that are not numbered from
 * `expectedSeq` on. `conflict`: another length than expected.
 */
export function checkAppend(
  session: string,
  length: number,
  expectedSeq: number,
  records: readonly LogRecord[],
): void {
  checkSessionId(session);
  if (length !== expectedSeq)
    throw new RondoError(
      "conflict",
      `session ${JSON.stringify(session)} has ${length} records, not ${expectedSeq}: ` +
        (length > expectedSeq
          ? "another writer was faster; open it again and go on from there"
          : "some of them were deleted, or never stored; open it again and go on from what is there"),
    );
  let seq = expectedSeq;
  for (const record of records) {
    if (record.seq !== seq)
      throw invalidRequest(
        `a record for session ${JSON.stringify(session)} has seq ${record.seq} where ${seq} was due; number them consecutively`,
      );
    seq++;
  }
}

/** @throws RondoError `invalid_request` if it is not a sequence number. */
export function checkFrom(from: number): void {
  if (!Number.isSafeInteger(from) || from < 0)
    throw invalidRequest(`cannot read from record ${from}: it must be a whole number from 0`);
}

/** Size limits of a journal, in bytes of JSON text. */
export interface SizeBounds {
  /** One record. Default: 64 MiB. */
  maxRecordBytes?: number;
  /** A whole session. Default: 4 GiB. */
  maxSessionBytes?: number;
}

/**
 * What journals that write text check before they append; for authors of journals.
 * @param held bytes that the session has already
 * @param added bytes of each record to be added
 * @throws RondoError `payload_too_large` naming the session, the record and the limit
 */
export function checkSize(
  session: string,
  expectedSeq: number,
  held: number,
  added: readonly number[],
  bounds: SizeBounds = {},
): void {
  const { maxRecordBytes = 64 * 2 ** 20, maxSessionBytes = 4 * 2 ** 30 } = bounds;
  let total = held;
  for (const [i, bytes] of added.entries()) {
    total += bytes;
    if (bytes > maxRecordBytes)
      throw new RondoError(
        "payload_too_large",
        `record ${expectedSeq + i} of session ${JSON.stringify(session)} has ${bytes} bytes, and ${maxRecordBytes} ` +
          "are the most one may have; cap the results of tools (context.cap), or set maxRecordBytes higher",
      );
  }
  if (added.length > 0 && total > maxSessionBytes)
    throw new RondoError(
      "payload_too_large",
      `session ${JSON.stringify(session)} would have ${total} bytes, and ${maxSessionBytes} are the most one may ` +
        "have; go on in a new session, or set maxSessionBytes higher",
    );
}
