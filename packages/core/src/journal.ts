// The room of the journal's interface: how records are stored and read.
//
// A journal holds sessions; a session is a list of records with consecutive sequence numbers from 0.
// Writing is compare-and-append: of two writers only one wins. A group is stored completely or not at all.
// A lease gives one writer a session for a while; its token fences off the previous holder.

import type { BlobStore } from "./journal/blobs.ts";
import type { isSubAgentOf } from "./journal/sub-agents.ts";
import type { LogRecord } from "./loop/records.ts";

/** What `list` returns of a session. */
export interface SessionInfo {
  id: string;
  /** How many records it has. */
  length: number;
  /** Time of the first and the last record, in milliseconds since 1970. */
  createdAt: number;
  updatedAt: number;
}

/** The right to write a session, for a while. It is lost if it is not renewed in time and another writer takes it. */
export interface Lease {
  /** Increases with every lease of the session. Passed to `append`, which refuses any but the newest. */
  readonly token: number;
  /**
   * Renews it: it holds for `ttlMs` from now on.
   * @throws RondoError `conflict` naming the new holder, if another took it
   */
  renew(): void | Promise<void>;
  /** Releases it. Nothing can be appended with its token any more. Does not fail if another writer took it. */
  release(): void | Promise<void>;
}

export interface LeaseRequest {
  /** A name for the holder: other writers read it in their `conflict` error. */
  owner: string;
  /** How long it holds without being renewed, in milliseconds. */
  ttlMs: number;
  /** Take it from the current holder, which is fenced off. Default: false. */
  takeOver?: boolean;
}

/** A store of sessions. If it throws something other than a `RondoError`, that becomes one of kind `storage` that names the function and what it threw. */
export interface Journal {
  /**
   * Appends one group, all or nothing, durable when it returns (or when the promise resolves).
   * @param expectedSeq the sequence number of the first record: the session's current length.
   * @param token of the writer's lease. Without one the append is refused while anyone holds the session.
   * @throws RondoError `conflict` naming the session if it has another length (another writer was faster), or if
   *   another writer holds it; `storage` if it could not be stored; `payload_too_large`; `invalid_request`.
   */
  append(
    session: string,
    expectedSeq: number,
    records: readonly LogRecord[],
    token?: number,
  ): void | Promise<void>;
  /** The records of a session from a sequence number on (default 0); empty if there is no such session. */
  read(session: string, from?: number): LogRecord[] | Promise<LogRecord[]>;
  /** All sessions, newest first. */
  list(): SessionInfo[] | Promise<SessionInfo[]>;
  /**
   * Takes the right to write a session, which need not exist yet. A journal without leases cannot refuse a second
   * writer in advance; the comparison in `append` still lets only one win.
   * @throws RondoError `conflict` naming who holds it and until when
   */
  lease?(session: string, request: LeaseRequest): Lease | Promise<Lease>;
  /**
   * Calls back soon after a session may have new records, whoever wrote them. Calling too often is allowed, missing one is not.
   * Without `watch` followers poll every quarter of a second. If the callback throws, the host reports an uncaught error;
   * the append has not failed. @returns a function that stops the calls
   */
  watch?(session: string, heard: () => void): () => void;
  /**
   * Deletes a session for good: its records, its full texts in `blobs`, and the sessions of its sub-agents ({@link isSubAgentOf}).
   * Watchers are notified; followers get an error. A new session may begin under the same id, and no token of a lease is given
   * twice. What a crash leaves of it is still listed, and deleted by the next call. A journal without this method cannot delete.
   * @returns the ids of the deleted sessions, its own and those of its sub-agents; empty if there were none
   * @throws RondoError `conflict` naming who holds one of them: nothing is deleted then
   */
  delete?(session: string): string[] | Promise<string[]>;
  close?(): void | Promise<void>;
  /** Stores the full texts of cut results. Absent: they are kept elsewhere. */
  readonly blobs?: BlobStore;
}
