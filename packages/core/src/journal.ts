// The room of the journal's interface: where records go, and come from.
//
// A journal holds sessions; a session is a list of records with consecutive sequence numbers from 0.
// Writing is compare-and-append: two writers cannot both win. A group that is appended together is kept or lost together.

import type { BlobStore } from "./blobs.ts";
import type { LogRecord } from "./loop/records.ts";

/** What `list` tells of a session. */
export interface SessionInfo {
  id: string;
  /** How many records it has. */
  length: number;
  /** Time of the first and the last record, in milliseconds since 1970. */
  createdAt: number;
  updatedAt: number;
}

export interface Journal {
  /**
   * Appends one group, all or nothing, durable when it returns (or when the promise resolves).
   * @param expectedSeq the sequence number the first record must get: the session's present length.
   * @throws RondoError `invalid_request` naming the session when it has another length (another writer was faster).
   */
  append(session: string, expectedSeq: number, records: readonly LogRecord[]): void | Promise<void>;
  /** The records of a session from a sequence number on (default 0); empty when there is no such session. */
  read(session: string, from?: number): LogRecord[] | Promise<LogRecord[]>;
  /** All sessions, the newest first. */
  list(): SessionInfo[] | Promise<SessionInfo[]>;
  close?(): void | Promise<void>;
  /** Where the whole texts of results that were cut are kept, beside the records. Absent: elsewhere. */
  readonly blobs?: BlobStore;
}
