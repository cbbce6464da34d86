// The room of the journal in memory, and of the check that every journal makes before it appends.
//
// Records are never changed once appended, so references are kept and nothing is copied. It lasts as long as its object.

import { type BlobStore, memoryBlobs } from "./blobs.ts";
import { RondoError } from "./errors.ts";
import type { Journal, SessionInfo } from "./journal.ts";
import type { LogRecord } from "./loop/records.ts";

/** A journal in memory, for tests and for runs that need not outlive their process. All its methods are synchronous. */
export interface MemoryJournal extends Journal {
  append(session: string, expectedSeq: number, records: readonly LogRecord[]): void;
  read(session: string, from?: number): LogRecord[];
  list(): SessionInfo[];
  readonly blobs: BlobStore;
}

export function memoryJournal(): MemoryJournal {
  const sessions = new Map<string, LogRecord[]>();
  return {
    blobs: memoryBlobs(),
    append(session, expectedSeq, records): void {
      const held = sessions.get(session);
      checkAppend(session, held?.length ?? 0, expectedSeq, records);
      if (records.length === 0) return;
      if (held === undefined) sessions.set(session, [...records]);
      else for (const record of records) held.push(record);
    },
    read(session, from = 0): LogRecord[] {
      checkFrom(from);
      return sessions.get(session)?.slice(from) ?? [];
    },
    list(): SessionInfo[] {
      const infos = [...sessions].map(([id, held]) => ({
        id,
        length: held.length,
        createdAt: held[0]!.at,
        updatedAt: held.at(-1)!.at,
      }));
      // Of two with the same time, the one that began later comes first: the sort is stable.
      return infos.reverse().sort((a, b) => b.updatedAt - a.updatedAt);
    },
  };
}

/**
 * What every journal checks before it appends; for whoever writes one.
 * @param length how many records the session has now.
 * @throws RondoError `invalid_request`: a session id that cannot be stored, another length than expected, or records
 *   that are not numbered from `expectedSeq` on.
 */
export function checkAppend(
  session: string,
  length: number,
  expectedSeq: number,
  records: readonly LogRecord[],
): void {
  // Half a surrogate pair has no UTF-8, and C strings end at NUL: two such ids could become one in a file.
  if (session === "" || /[\0\p{Surrogate}]/u.test(session))
    throw new RondoError(
      "invalid_request",
      `${JSON.stringify(session)} cannot be a session id: it must be a non-empty string of whole characters without NUL`,
    );
  if (length !== expectedSeq)
    throw new RondoError(
      "invalid_request",
      `session ${JSON.stringify(session)} has ${length} records, not ${expectedSeq}: another writer was faster; ` +
        "read it again and go on from there",
    );
  let seq = expectedSeq;
  for (const record of records) {
    if (record.seq !== seq)
      throw new RondoError(
        "invalid_request",
        `a record for session ${JSON.stringify(session)} has seq ${record.seq} where ${seq} was due; number them consecutively`,
      );
    seq++;
  }
}

/** @throws RondoError `invalid_request` when it is no sequence number. */
export function checkFrom(from: number): void {
  if (!Number.isSafeInteger(from) || from < 0)
    throw new RondoError("invalid_request", `cannot read from seq ${from}: it must be a whole number from 0`);
}
