// The room of the SQLite journal: every group is one transaction, on disk when `append` returns.
//
// Compare and append are one immediate transaction, so of two processes that append at the same position exactly one
// wins. The table of sessions is updated in the same transaction, so listing never counts records.

import { basename, dirname } from "node:path";
import { crc32 } from "node:zlib";
import {
  afterDeleted,
  checkAppend,
  checkFrom,
  checkSessionId,
  checkSize,
  type Lease,
  type LeaseRequest,
  type LogRecord,
  messageOf,
  RondoError,
  type SessionInfo,
  type SizeBounds,
  withSubAgents,
} from "@rondo/core";
import { checkGiven, membersOf } from "@rondo/core/checks";
import { type FileJournal, type FileJournalOptions, fileJournalChecks } from "./file-journal.ts";
import { FileLeases, type StoredLease } from "./leases.ts";
import { placeOf } from "./location.ts";
import { warnOfNetwork } from "./network-drive.ts";
import { highestFormat } from "./record-format.ts";
import { openedToRead } from "./refusals.ts";
import { type Perform, SqliteBlobs, type Transact } from "./sqlite/blobs.ts";
import { openDatabase } from "./sqlite/database.ts";
import { sqliteError } from "./sqlite/errors.ts";
import { checkFile } from "./sqlite/file.ts";
import { OpenFile } from "./sqlite/open-file.ts";
import { onlyReading } from "./sqlite/read-only.ts";
import { Sessions } from "./sqlite/sessions.ts";
import { prepare, type Statements } from "./sqlite/statements.ts";
import { FileWatchers, watchFiles } from "./watch-files.ts";

export interface SqliteJournalOptions extends FileJournalOptions {}

/** A journal in one SQLite file. All its methods are synchronous; after `close` all of them refuse. */
export interface SqliteJournal extends FileJournal {}

const optionChecks = membersOf<SqliteJournalOptions>(fileJournalChecks);

/**
 * Opens the journal in `file`, or creates it and its folder. Several processes may have one file open. A journal that
 * cannot be written, or is opened with `readOnly`, can be read; everything else is refused.
 * @param file a path, a `file:` URL, or `:memory:`.
 * @throws RondoError `invalid_request` naming the file when it is not a journal, is missing (with `readOnly`), is of a newer
 *   version, or cannot be read; such a file is left untouched. `storage` when the disk fails.
 */
export function sqliteJournal(file: string | URL, options: SqliteJournalOptions = {}): SqliteJournal {
  const path = file === ":memory:" ? file : placeOf(file, "a SQLite journal", "file");
  checkGiven(optionChecks, options);
  const { busyTimeoutMs = 5_000, readOnly = false } = options;
  if (readOnly && path === ":memory:")
    throw new RondoError(
      "invalid_request",
      'sqliteJournal: readOnly needs a file; ":memory:" holds nothing yet',
    );
  const whyNotWritten = path === ":memory:" ? undefined : checkFile(path, readOnly);
  const whyOnlyRead = readOnly ? openedToRead : whyNotWritten;
  if (whyOnlyRead !== undefined) return onlyReading(path, busyTimeoutMs, whyOnlyRead);
  if (path !== ":memory:") warnOfNetwork(path, dirname(path), (message) => process.emitWarning(message));
  try {
    return new WritableJournal(path, busyTimeoutMs, options);
  } catch (thrown) {
    throw sqliteError(path, "open", thrown);
  }
}

interface LeaseRow {
  token: number;
  owner: string | null;
  process: string | null;
  at: number;
  ttl: number;
}

/** Holds the highest token of all deleted sessions; no session has an empty name. */
const ofDeleted = "";

/** Tells in-memory journals apart, which all have the same name. */
let inMemory = 0;

class WritableJournal implements SqliteJournal {
  readonly blobs: SqliteBlobs;
  readonly #file: string;
  readonly #db: ReturnType<typeof openDatabase>;
  readonly #open: OpenFile;
  readonly #statements: Statements;
  readonly #sessions: Sessions;
  readonly #bounds: SizeBounds;
  readonly #leases: FileLeases;
  readonly #watchers = new FileWatchers(() => this.#watchFile());
  #closed = false;

  constructor(
    file: string,
    busyTimeoutMs: number,
    { now = Date.now, blobs, ...bounds }: SqliteJournalOptions,
  ) {
    this.#file = file;
    this.#leases = new FileLeases(file === ":memory:" ? `${file}${++inMemory}` : file, now);
    this.#bounds = bounds;
    this.#db = openDatabase(file, busyTimeoutMs);
    try {
      this.#statements = prepare(this.#db);
      this.#sessions = new Sessions(this.#db, file);
      this.#open = new OpenFile(this.#db, file);
    } catch (thrown) {
      this.#db.close();
      throw thrown;
    }
    const perform: Perform = (doing, act) => this.#perform(doing, act);
    const transact: Transact = (act) => this.#transact(act);
    this.blobs = new SqliteBlobs(this.#db, perform, transact, blobs);
  }

  append(session: string, expectedSeq: number, records: readonly LogRecord[], token?: number): void {
    checkSessionId(session);
    this.#perform("append to", () => {
      // Before taking the lock: serializing a large group takes time.
      const texts = records.map((record) => JSON.stringify(record));
      this.#transact(() => {
        this.#leases.check(session, this.#lease(session), token);
        this.#store(session, expectedSeq, records, texts);
      });
    });
    if (records.length > 0) this.#watchers.tell(session);
  }

  lease(session: string, request: LeaseRequest): Lease {
    checkSessionId(session);
    return this.#leases.take(session, request, {
      locked: (doing, act) => this.#perform(doing, () => this.#transact(act)),
      held: () => this.#lease(session),
      highestGone: () => this.#lease(ofDeleted)?.token ?? 0,
      store: (lease) => this.#storeLease(session, lease),
      isClosed: () => this.#closed,
    });
  }

  watch(session: string, heard: () => void): () => void {
    return this.#watchers.add(session, heard);
  }

  read(session: string, from = 0): LogRecord[] {
    checkFrom(from);
    checkSessionId(session);
    return this.#perform("read", () => {
      this.#checkToRead();
      return this.#sessions.read(session, from);
    });
  }

  list(): SessionInfo[] {
    return this.#perform("list", () => {
      this.#checkToRead();
      return this.#sessions.list();
    });
  }

  delete(session: string): string[] {
    checkSessionId(session);
    const gone = this.#perform("delete from", () => {
      const deleted = this.#transact(() => this.#delete(session));
      // Deleted rows remain in the WAL until it is written back and emptied; if a reader prevents that now, the next delete does it.
      this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return deleted;
    });
    for (const id of gone) this.#watchers.tell(id);
    return gone;
  }

  close(): void {
    if (this.#closed) return;
    try {
      this.#perform("close", () => {
        this.#closed = true;
        this.#db.close();
      });
    } finally {
      this.#watchers.close();
    }
  }

  #transact<T>(act: () => T): T {
    const { begin, commit } = this.#statements;
    begin.run();
    try {
      this.#open.check("Nothing of this group was stored");
      const result = act();
      commit.run();
      return result;
    } catch (thrown) {
      this.#rollback();
      this.#open.save();
      throw thrown;
    }
  }

  /** If the file was removed or replaced, others no longer write and read what this connection sees. */
  #checkToRead(): void {
    this.#open.check("What others write to it is not seen here");
  }

  /** SQLite counts the commits of other connections; our own appends report themselves. */
  #watchFile(): () => void {
    if (this.#file === ":memory:") return () => {};
    let seen = this.#looks();
    const name = basename(this.#open.place);
    return watchFiles(
      dirname(this.#open.place),
      (changed) => changed.startsWith(name),
      () => {
        if (this.#closed) return;
        const now = this.#looks();
        if (now === seen) return;
        seen = now;
        this.#watchers.tellAll();
      },
    );
  }

  /** A value that changes when the file does; the error text if it cannot be read (whoever reads it gets the same error). */
  #looks(): string {
    try {
      this.#checkToRead();
      return String(this.#statements.dataVersion.get()?.data_version);
    } catch (thrown) {
      return messageOf(thrown);
    }
  }

  #lease(session: string): StoredLease | undefined {
    const row = this.#statements.lease.get(session) as LeaseRow | undefined;
    if (row === undefined) return undefined;
    const { owner, ttl, ...rest } = row;
    return { ...rest, ttlMs: ttl, ...(owner === null ? {} : { owner }) };
  }

  #storeLease(session: string, { token, owner, process, at, ttlMs }: StoredLease): void {
    this.#statements.putLease.run(session, token, owner ?? null, process, at, ttlMs);
  }

  #delete(session: string): string[] {
    const { idsBetween, deleteRecords, deleteSession, deleteLease } = this.#statements;
    const below = idsBetween.all(`${session}:`, `${session};`).map(({ id }) => String(id));
    const all = withSubAgents([session, ...below], session);
    for (const id of all) this.#leases.checkUnheld(id, this.#lease(id));
    let highest = this.#lease(ofDeleted)?.token ?? 0;
    const gone = all.filter((id) => {
      highest = Math.max(highest, this.#lease(id)?.token ?? 0);
      deleteLease.run(id);
      this.blobs.forget(id);
      deleteRecords.run(id);
      return deleteSession.run(id).changes > 0;
    });
    if (highest > 0) this.#storeLease(ofDeleted, { ...afterDeleted(highest), process: null });
    return gone;
  }

  #store(
    session: string,
    expectedSeq: number,
    records: readonly LogRecord[],
    texts: readonly string[],
  ): void {
    const { addSession, growSession, addRecord } = this.#statements;
    const row = this.#sessions.row(session);
    checkAppend(session, row?.length ?? 0, expectedSeq, records);
    const added = texts.map((text) => Buffer.byteLength(text));
    checkSize(session, expectedSeq, row?.bytes ?? 0, added, this.#bounds);
    const bytes = added.reduce((sum, one) => sum + one, row?.bytes ?? 0);
    const [first] = records;
    const last = records.at(-1);
    if (first === undefined || last === undefined) return;
    const format = highestFormat(records, row?.format ?? 0);
    const length = expectedSeq + records.length;
    let key = row?.key;
    if (key === undefined)
      key = Number(addSession.run(session, length, first.at, last.at, format, bytes).lastInsertRowid);
    else growSession.run(length, last.at, format, bytes, key);
    for (const [i, text] of texts.entries()) addRecord.run(key, expectedSeq + i, text, crc32(text));
  }

  #rollback(): void {
    try {
      // SQLite may already have rolled back by itself (on a full disk, for example).
      if (this.#db.isTransaction !== false) this.#statements.rollback.run();
    } catch {
      // The caller must get the first error.
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
}
