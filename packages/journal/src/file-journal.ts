// The room of file journals: what SQLite and JSONL have in common.

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
  /** How long to wait for another process's append, in milliseconds. Default 5,000. Waiting blocks the thread. */
  busyTimeoutMs?: number;
  /** The clock for leases, in milliseconds since 1970. Default: `Date.now`. */
  now?: () => number;
  /** Opens an existing journal for reading only: nothing is created or changed (it works on a full disk), and writing is refused. Default false. */
  readOnly?: boolean;
  /** Limits for the whole texts of cut results. Default: 16 MiB per text, 256 MiB per session. */
  blobs?: BlobLimits;
}

/** A journal in files. All its methods are synchronous, except those of `blobs` in JSONL; after `close` all of them refuse. */
export interface FileJournal extends Journal {
  append(session: string, expectedSeq: number, records: readonly LogRecord[], token?: number): void;
  read(session: string, from?: number): LogRecord[];
  list(): SessionInfo[];
  /** A lease whose process is known to be gone is taken over without waiting. */
  lease(session: string, request: LeaseRequest): Lease;
  /** Also hears what other processes append. */
  watch(session: string, heard: () => void): () => void;
  delete(session: string): string[];
  /** The whole texts of cut results: in the same file (SQLite), or in the folder `texts` within the journal's (JSONL). */
  readonly blobs: BlobStore;
  /** Closes the files. May be called twice. */
  close(): void;
}

/** A duration that a thread can wait. */
export const waitable: Check = needed(
  "a whole number of milliseconds, from 0 to 2,147,483,647,",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 0x7fff_ffff,
);

/** Checks of the options that all file journals share. */
export const fileJournalChecks: ChecksOf<FileJournalOptions> = {
  maxRecordBytes: above0,
  maxSessionBytes: above0,
  busyTimeoutMs: waitable,
  now: callable,
  readOnly: flag,
  blobs: membersOf<BlobLimits>({ blobBytes: from0, sessionBytes: from0 }),
};
