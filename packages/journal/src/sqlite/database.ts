// The room of the connection: opens the file, creates its tables.

import { closeSync, existsSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { RondoError } from "@rondo/core";
import { codeIn, codes } from "./errors.ts";
import { applicationId, checkVersion } from "./file.ts";
import { loadSqlite, pragma } from "./library.ts";
import { migrateTables, tables, tablesVersion } from "./tables.ts";

/** Opens the database and creates the tables if there are none. Throws SQLite's own errors; the caller words them. */
export function openDatabase(file: string, busyTimeoutMs: number): DatabaseSync {
  const Database = loadSqlite();
  // Conversations are private: mode 0600. SQLite gives the files beside it (-wal, -shm) the same mode.
  if (file !== ":memory:" && !existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const db = new Database(file);
  try {
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    if (isBlank(db)) {
      db.exec("BEGIN IMMEDIATE");
      // Checked again under the lock: another process may have created the tables meanwhile.
      // Before WAL mode, so that the application id is in the file itself from its first byte on.
      if (isBlank(db))
        db.exec(
          `${tables}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${tablesVersion};`,
        );
      db.exec("COMMIT");
    }
    if (pragma(db, "application_id") !== applicationId)
      throw new RondoError(
        "invalid_request",
        `cannot open the journal ${file}: another application has just made it; name another file`,
      );
    checkVersion(file, pragma(db, "user_version"));
    migrateTables(db, () => pragma(db, "user_version"));
    useWal(db, busyTimeoutMs);
    // A commit is on disk when it returns.
    db.exec("PRAGMA synchronous = FULL");
    // On macOS a plain fsync leaves it in the disk's own cache; elsewhere this changes nothing.
    db.exec("PRAGMA fullfsync = ON");
    // Deleted content is overwritten in the file.
    db.exec("PRAGMA secure_delete = ON");
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

export function isBlank(db: DatabaseSync): boolean {
  if (pragma(db, "application_id") !== 0) return false;
  return db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
}

/** With two processes switching at once, SQLite may answer `busy` without waiting: so retry here. */
function useWal(db: DatabaseSync, busyTimeoutMs: number): void {
  const until = Date.now() + busyTimeoutMs;
  for (;;) {
    try {
      db.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (thrown) {
      if (codeIn(thrown) !== codes.busy || Date.now() >= until) throw thrown;
      pause();
    }
  }
}

/** Blocks the thread for a moment, as SQLite's own waits do, so that another process can finish. */
export function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
}
