// The room of the SQLite journal: every group one transaction, on the disk when `append` returns.
//
// The comparison and the append stand in one immediate transaction, so of two processes that write at one place
// exactly one wins. The table of sessions is kept in the same transaction: listing never counts records.

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type BlobLimits,
  type BlobStore,
  checkAppend,
  checkFrom,
  formatVersion,
  type Journal,
  type LogRecord,
  messageOf,
  RondoError,
  type SessionInfo,
} from "@rondo/core";
import { SqliteBlobs } from "./sqlite-blobs.ts";
import { openDatabase, sqliteError } from "./sqlite-database.ts";
import { checkFile } from "./sqlite-file.ts";

export interface SqliteJournalOptions {
  /** How long to wait for another process's transaction, in milliseconds. Default 5,000. The wait blocks the thread. */
  busyTimeoutMs?: number;
  /** How much whole text of cut results is kept beside the records. */
  blobs?: BlobLimits;
}

/** A journal in one SQLite file. All its methods are synchronous; a closed one refuses. */
export interface SqliteJournal extends Journal {
  append(session: string, expectedSeq: number, records: readonly LogRecord[]): void;
  read(session: string, from?: number): LogRecord[];
  list(): SessionInfo[];
  /** The whole texts of cut results, in the same file. */
  readonly blobs: BlobStore;
  /** Closes the file. May be called twice. */
  close(): void;
}

/**
 * Opens the journal in `file`, or makes it, with its folder. Several processes may have one file open.
 * @param file a path, a `file:` URL, or `:memory:`.
 * @throws RondoError `invalid_request` naming the file when it is not a journal, is one of a newer version, or cannot
 *   be read and written; such a file is left untouched. `internal` when the disk fails.
 */
export function sqliteJournal(file: string | URL, options: SqliteJournalOptions = {}): SqliteJournal {
  const timeout = options.busyTimeoutMs ?? 5_000;
  if (!Number.isSafeInteger(timeout) || timeout < 0 || timeout > 0x7fff_ffff)
    throw new RondoError(
      "invalid_request",
      `busyTimeoutMs must be a whole number of milliseconds, not ${timeout}`,
    );
  const path = pathOf(file);
  if (path !== ":memory:") checkFile(path);
  try {
    return new Journaling(path, timeout, options.blobs);
  } catch (thrown) {
    throw sqliteError(path, "open", thrown);
  }
}

function pathOf(file: string | URL): string {
  if (file === "")
    throw new RondoError(
      "invalid_request",
      'a journal needs a file name; use ":memory:" for one that is not kept',
    );
  return file === ":memory:" ? file : resolve(typeof file === "string" ? file : fileURLToPath(file));
}

interface SessionRow {
  key: number;
  length: number;
  format: number;
}

class Journaling implements SqliteJournal {
  readonly blobs: BlobStore;
  readonly #file: string;
  readonly #db: ReturnType<typeof openDatabase>;
  readonly #statements: ReturnType<typeof prepare>;
  #closed = false;

  constructor(file: string, busyTimeoutMs: number, limits: BlobLimits | undefined) {
    this.#file = file;
    this.#db = openDatabase(file, busyTimeoutMs);
    this.#statements = prepare(this.#db);
    this.blobs = new SqliteBlobs(this.#db, (doing, act) => this.#perform(doing, act), limits);
  }

  append(session: string, expectedSeq: number, records: readonly LogRecord[]): void {
    this.#perform("append to", () => {
      // Before the lock: making JSON of a large group takes time.
      const texts = records.map((record) => JSON.stringify(record));
      const { begin, commit } = this.#statements;
      begin.run();
      try {
        this.#store(session, expectedSeq, records, texts);
        commit.run();
      } catch (thrown) {
        this.#rollback();
        throw thrown;
      }
    });
  }

  read(session: string, from = 0): LogRecord[] {
    checkFrom(from);
    return this.#perform("read", () => {
      const row = this.#session(session);
      if (row === undefined) return [];
      const rows = this.#statements.read.all(row.key, from) as { seq: number; record: string }[];
      const records = rows.map(({ seq, record }, i) => {
        if (seq !== from + i) throw this.#damaged(session, from + i, "it is missing");
        try {
          return JSON.parse(record) as LogRecord;
        } catch (thrown) {
          throw this.#damaged(session, seq, messageOf(thrown));
        }
      });
      // The length was read first: others may have added records since, none can have taken one away.
      const end = from + records.length;
      if (end < row.length) throw this.#damaged(session, end, "it is missing");
      return records;
    });
  }

  list(): SessionInfo[] {
    return this.#perform("list", () =>
      this.#statements.list.all().map((row) => ({ ...(row as unknown as SessionInfo) })),
    );
  }

  close(): void {
    if (this.#closed) return;
    this.#perform("close", () => {
      this.#closed = true;
      this.#db.close();
    });
  }

  #store(
    session: string,
    expectedSeq: number,
    records: readonly LogRecord[],
    texts: readonly string[],
  ): void {
    const { begun, grown, record: put } = this.#statements;
    const row = this.#session(session);
    checkAppend(session, row?.length ?? 0, expectedSeq, records);
    const [first] = records;
    const last = records.at(-1);
    if (first === undefined || last === undefined) return;
    let format = row?.format ?? 0;
    for (const record of records)
      if (record.type === "run_started" && record.format > format) format = record.format;
    const length = expectedSeq + records.length;
    let key = row?.key;
    if (key === undefined)
      key = Number(begun.run(session, length, first.at, last.at, format).lastInsertRowid);
    else grown.run(length, last.at, format, key);
    for (const [i, text] of texts.entries()) put.run(key, expectedSeq + i, text);
  }

  /** @throws RondoError `invalid_request` when its records are of a newer format. */
  #session(id: string): SessionRow | undefined {
    const row = this.#statements.session.get(id) as SessionRow | undefined;
    if (row !== undefined && row.format > formatVersion)
      throw new RondoError(
        "invalid_request",
        `session ${JSON.stringify(id)} in the journal ${this.#file} has records of format ${row.format}, written by a ` +
          `newer Rondo (this one knows ${formatVersion}); update @rondo/core`,
      );
    return row;
  }

  #rollback(): void {
    try {
      // SQLite may have rolled back by itself (a full disk, say); then there is nothing left to undo.
      if (this.#db.isTransaction !== false) this.#statements.rollback.run();
    } catch {
      // What went wrong first is what the caller must hear.
    }
  }

  #perform<T>(doing: string, act: () => T): T {
    if (this.#closed) throw new RondoError("invalid_request", `the journal ${this.#file} is closed`);
    try {
      return act();
    } catch (thrown) {
      throw sqliteError(this.#file, doing, thrown);
    }
  }

  #damaged(session: string, seq: number, why: string): RondoError {
    return new RondoError(
      "internal",
      `record ${seq} of session ${JSON.stringify(session)} in the journal ${this.#file} is damaged (${why}); restore a copy of the file`,
    );
  }
}

type Statement = ReturnType<ReturnType<typeof openDatabase>["prepare"]>;

function prepare(
  db: ReturnType<typeof openDatabase>,
): Record<
  "begin" | "commit" | "rollback" | "session" | "begun" | "grown" | "record" | "read" | "list",
  Statement
> {
  return {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    rollback: db.prepare("ROLLBACK"),
    session: db.prepare("SELECT key, length, format FROM sessions WHERE id = ?"),
    begun: db.prepare(
      "INSERT INTO sessions (id, length, created_at, updated_at, format) VALUES (?, ?, ?, ?, ?)",
    ),
    grown: db.prepare("UPDATE sessions SET length = ?, updated_at = ?, format = ? WHERE key = ?"),
    record: db.prepare("INSERT INTO records (session, seq, record) VALUES (?, ?, ?)"),
    read: db.prepare("SELECT seq, record FROM records WHERE session = ? AND seq >= ? ORDER BY seq"),
    list: db.prepare(
      "SELECT id, length, created_at AS createdAt, updated_at AS updatedAt FROM sessions ORDER BY updated_at DESC, key DESC",
    ),
  };
}
