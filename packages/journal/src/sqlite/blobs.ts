// The room of blobs in SQLite: whole texts in a table of the journal's own file.
//
// The tables are created when the first text is stored, so a journal without large results has none. The limit is
// checked in the same immediate transaction that stores the text, so several processes together keep to it.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  type BlobLimits,
  type BlobOrigin,
  type BlobPut,
  type BlobStore,
  blobInfo,
  blobLimits,
  blobRef,
  RondoError,
  refTaken,
  refusesBlob,
  safeRef,
} from "@rondo/core";

// Stored as BLOB: many readers cut SQLite's TEXT at a NUL. `origin` is for people who look into the file.
const tables = `
  CREATE TABLE IF NOT EXISTS blob_sessions (
    id TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS blobs (
    session TEXT NOT NULL,
    ref TEXT NOT NULL,
    lines INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    is_error INTEGER NOT NULL,
    text BLOB NOT NULL,
    PRIMARY KEY (session, ref)
  ) STRICT;
`;

/** Runs what may fail; errors get a message that names the file. */
export type Perform = <T>(doing: string, act: () => T) => T;

/** Runs `act` in one immediate transaction, after checking that the file is still there. */
export type Transact = <T>(act: () => T) => T;

type Name = "held" | "grow" | "get" | "put" | "drop" | "forget";

export class SqliteBlobs implements BlobStore {
  readonly #db: DatabaseSync;
  readonly #perform: Perform;
  readonly #transact: Transact;
  readonly #limits: Required<BlobLimits>;
  #prepared: Record<Name, StatementSync> | undefined;

  constructor(db: DatabaseSync, perform: Perform, transact: Transact, limits: BlobLimits | undefined) {
    this.#db = db;
    this.#perform = perform;
    this.#transact = transact;
    this.#limits = blobLimits(limits);
  }

  put(session: string, given: string, origin: BlobOrigin): BlobPut {
    return this.#perform("keep a text in", () => {
      const text = given.toWellFormed();
      const bytes = Buffer.from(text, "utf8");
      const info = blobInfo(text, bytes.length);
      if (!this.#hasTables) this.#makeTables();
      return this.#transaction((statements): BlobPut => {
        const known = bytesIn(statements.get, session, info.ref);
        if (known !== undefined)
          return known.equals(bytes) ? { ok: true, ...info } : { ok: false, reason: refTaken(info.ref) };
        const held = Number(statements.held.get(session)?.bytes ?? 0);
        const reason = refusesBlob(bytes.length, held, this.#limits);
        if (reason !== undefined) return { ok: false, reason };
        const { callId, tool, isError } = origin;
        statements.put.run(session, info.ref, info.lines, callId, tool, isError ? 1 : 0, bytes);
        statements.grow.run(session, bytes.length);
        return { ok: true, ...info };
      });
    });
  }

  get(session: string, ref: string): string | undefined {
    return this.#perform("read a text in", () =>
      this.#hasTables ? textIn(this.#statements.get, session, ref) : undefined,
    );
  }

  delete(session: string): void {
    this.#perform("delete texts in", () => {
      if (this.#hasTables) this.#transact(() => this.forget(session));
    });
  }

  /** The same, within an open transaction. */
  forget(session: string): void {
    if (!this.#hasTables) return;
    const { drop, forget } = this.#statements;
    drop.run(session);
    forget.run(session);
  }

  #transaction<T>(act: (statements: Record<Name, StatementSync>) => T): T {
    const statements = this.#statements;
    return this.#transact(() => act(statements));
  }

  get #hasTables(): boolean {
    return this.#prepared !== undefined || hasTexts(this.#db);
  }

  /** Several processes may get here at once: the one that must write takes the lock first, and the others wait. */
  #makeTables(): void {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      this.#db.exec(`${tables}; COMMIT`);
    } catch (thrown) {
      if (this.#db.isTransaction !== false) this.#db.exec("ROLLBACK");
      throw thrown;
    }
  }

  get #statements(): Record<Name, StatementSync> {
    this.#prepared ??= {
      held: this.#db.prepare("SELECT bytes FROM blob_sessions WHERE id = ?"),
      grow: this.#db.prepare(
        "INSERT INTO blob_sessions (id, bytes) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET bytes = bytes + excluded.bytes",
      ),
      get: textQuery(this.#db),
      put: this.#db.prepare(
        "INSERT INTO blobs (session, ref, lines, call_id, tool, is_error, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ),
      drop: this.#db.prepare("DELETE FROM blobs WHERE session = ?"),
      forget: this.#db.prepare("DELETE FROM blob_sessions WHERE id = ?"),
    };
    return this.#prepared;
  }
}

/** A journal that never stored a text has no table for them. */
export const hasTexts = (db: DatabaseSync): boolean =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'blobs'").get() !== undefined;

export const textQuery = (db: DatabaseSync): StatementSync =>
  db.prepare("SELECT text FROM blobs WHERE session = ? AND ref = ?");

/** @param query made by {@link textQuery} */
export function textIn(query: StatementSync, session: string, ref: string): string | undefined {
  const name = safeRef(ref);
  const text = bytesIn(query, session, name)?.toString("utf8");
  if (text !== undefined && blobRef(text) !== name)
    throw new RondoError(
      "storage",
      `the text ${name} of session ${JSON.stringify(session)} is damaged; restore a copy of the journal`,
    );
  return text;
}

function bytesIn(query: StatementSync, session: string, ref: string): Buffer | undefined {
  const text = query.get(session, ref)?.text;
  return text instanceof Uint8Array ? Buffer.from(text.buffer, text.byteOffset, text.byteLength) : undefined;
}
