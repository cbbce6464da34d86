// The room of the journal's interface: where records go, and come from.
//
// A journal holds sessions; a session is a list of records with consecutive sequence numbers from 0.
// Writing is compare-and-append: two writers cannot both win. A group that is appended together is kept or lost together.
// A lease says who writes a session for a while; its token fences off whoever held it before.

import type { BlobStore } from "./journal/blobs.ts";
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

/** The right to write a session, for a while. It is lost when it is not renewed in time and another takes it. */
export interface Lease {
  /** Grows with every lease of the session. Given to `append`, which refuses any but the newest. */
  readonly token: number;
  /**
   * Holds it for its whole time again, from now on.
   * @throws RondoError `conflict` naming who holds it now, when another took it
   */
  renew(): void | Promise<void>;
  /** Lets it go. Nothing can be appended with its token any more. Never fails because another took it. */
  release(): void | Promise<void>;
}

export interface LeaseRequest {
  /** Who asks, in words, for those who are kept waiting. */
  owner: string;
  /** How long it holds without being renewed, in milliseconds. */
  ttlMs: number;
  /** Take it from whoever holds it: that one is fenced off. Default false. */
  takeOver?: boolean;
}

/** Whatever a journal throws that is no `RondoError` is told as `storage`, with its function and what it said. */
export interface Journal {
  /**
   * Appends one group, all or nothing, durable when it returns (or when the promise resolves).
   * @param expectedSeq the sequence number the first record must get: the session's present length.
   * @param token of the lease it is written under. Without one it is refused while anybody holds the session.
   * @throws RondoError `conflict` naming the session when it has another length (another writer was faster), or when
   *   another writer holds it; `storage` when it could not be stored; `payload_too_large`; `invalid_request`.
   */
  append(
    session: string,
    expectedSeq: number,
    records: readonly LogRecord[],
    token?: number,
  ): void | Promise<void>;
  /** The records of a session from a sequence number on (default 0); empty when there is no such session. */
  read(session: string, from?: number): LogRecord[] | Promise<LogRecord[]>;
  /** All sessions, the newest first. */
  list(): SessionInfo[] | Promise<SessionInfo[]>;
  /**
   * Takes the right to write a session, which need not exist yet. A journal without it has no way to tell a second
   * writer beforehand; the comparison in `append` still lets only one win.
   * @throws RondoError `conflict` naming who holds it and until when
   */
  lease?(session: string, request: LeaseRequest): Lease | Promise<Lease>;
  /**
   * Calls back soon after records may have come to a session, whoever wrote them. Too often is allowed, never is not.
   * Without it followers look every quarter of a second. Who throws there is told by the host, as of an error that nobody
   * caught: whoever appends has not failed. @returns how to stop
   */
  watch?(session: string, heard: () => void): () => void;
  close?(): void | Promise<void>;
  /** Where the whole texts of results that were cut are kept, beside the records. Absent: elsewhere. */
  readonly blobs?: BlobStore;
}
