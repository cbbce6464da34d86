// The room of journals in files: what SQLite and JSONL have in common.

import type {
  BlobLimits,
  BlobStore,
  Journal,
  Lease,
  LeaseRequest,
  LogRecord,
  SessionInfo,
  SizeBounds,
} from "@rondo/core";
import {
  above0,
  type Check,
  type ChecksOf,
  callable,
  flag,
  from0,
  membersOf,
  needed,
} from "@rondo/core/checks";

export interface FileJournalOptions extends SizeBounds {
  /** How long to wait for another process's append, in milliseconds. Default 5,000. The wait blocks the thread. */
  busyTimeoutMs?: number;
  /** The clock that leases go by, in milliseconds since 1970. Default: `Date.now`. */
  now?: () => number;
  /** Only read it: nothing is made or changed, also on a disk that is full, and whatever writes is refused. It must be there. Default: false. */
  readOnly?: boolean;
  /** How much whole text of cut results is kept beside the records. */
  blobs?: BlobLimits;
}

/** A journal in files. All its methods are synchronous, but for the texts of JSONL; a closed one refuses. */
export interface FileJournal extends Journal {
  append(session: string, expectedSeq: number, records: readonly LogRecord[], token?: number): void;
  read(session: string, from?: number): LogRecord[];
  list(): SessionInfo[];
  /** Taken from a process that is known to be gone without waiting. */
  lease(session: string, request: LeaseRequest): Lease;
  /** Hears what other processes append, too. */
  watch(session: string, heard: () => void): () => void;
  delete(session: string): string[];
  /** The whole texts of cut results: of SQLite in the same file, of JSONL in the folder's own folder `texts`. */
  readonly blobs: BlobStore;
  /** Lets go of the files. May be called twice. */
  close(): void;
}

/** A time for which a thread can be made to wait. */
export const waitable: Check = needed(
  "a whole number of milliseconds, from 0 to 2,147,483,647,",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 0x7fff_ffff,
);

/** What the options of any journal in files must be. */
export const fileJournalChecks: ChecksOf<FileJournalOptions> = {
  maxRecordBytes: above0,
  maxSessionBytes: above0,
  busyTimeoutMs: waitable,
  now: callable,
  readOnly: flag,
  blobs: membersOf<BlobLimits>({ blobBytes: from0, sessionBytes: from0 }),
};
