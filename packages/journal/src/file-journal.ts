// The room of journals in files: what SQLite and JSONL have in common.

import {
  type Journal,
  type Lease,
  type LeaseRequest,
  type LogRecord,
  RondoError,
  type SessionInfo,
  type SizeBounds,
} from "@rondo/core";

export interface FileJournalOptions extends SizeBounds {
  /** How long to wait for another process's append, in milliseconds. Default 5,000. The wait blocks the thread. */
  busyTimeoutMs?: number;
  /** The clock that leases go by, in milliseconds since 1970. Default: `Date.now`. */
  now?: () => number;
}

/** A journal in files. All its methods are synchronous; a closed one refuses. */
export interface FileJournal extends Journal {
  append(session: string, expectedSeq: number, records: readonly LogRecord[], token?: number): void;
  read(session: string, from?: number): LogRecord[];
  list(): SessionInfo[];
  /** Taken from a process that is known to be gone without waiting. */
  lease(session: string, request: LeaseRequest): Lease;
  /** Hears what other processes append, too. */
  watch(session: string, heard: () => void): () => void;
  /** Lets go of the files. May be called twice. */
  close(): void;
}

/** @throws RondoError `invalid_request` when it is no time that can be waited */
export function busyTimeoutOf({ busyTimeoutMs = 5_000 }: FileJournalOptions): number {
  if (!Number.isSafeInteger(busyTimeoutMs) || busyTimeoutMs < 0 || busyTimeoutMs > 0x7fff_ffff)
    throw new RondoError(
      "invalid_request",
      `busyTimeoutMs must be a whole number of milliseconds, not ${busyTimeoutMs}`,
    );
  return busyTimeoutMs;
}
