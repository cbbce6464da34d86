// The room of the connection: node:sqlite loaded late, the file opened, its tables made, its errors put into words.

import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { messageOf, RondoError } from "@rondo/core";
import { isOfSystem, whyNotOpened } from "../place.ts";
import { applicationId, checkVersion } from "./file.ts";
import { migrateTables, tables, tablesVersion } from "./tables.ts";

/** SQLite's primary result codes that mean something to a user. */
// `error`: a statement that does not fit the tables. The statements are ours and never change, so the tables have.
const codes = {
  error: 1,
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
};

/** Opens the database and makes its tables where there are none. Throws what SQLite throws: the caller puts it into words. */
export function openDatabase(file: string, busyTimeoutMs: number): DatabaseSync {
  const Database = loadSqlite();
  const db = new Database(file);
  try {
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    if (isBlank(db)) {
      db.exec("BEGIN IMMEDIATE");
      // Looked at again: another process may have made the tables while we waited for the lock.
      // Not in WAL mode yet, so that the id that makes the file ours stands in the file itself from its first byte on.
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
    // A commit is on the disk when it returns.
    db.exec("PRAGMA synchronous = FULL");
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

/** What SQLite (or the system under it) threw, in words that name the file. */
export function sqliteError(file: string, doing: string, thrown: unknown): RondoError {
  if (thrown instanceof RondoError) return thrown;
  const { errcode } = Object(thrown) as { errcode?: unknown };
  const because = messageOf(thrown);
  const error = (kind: "storage" | "internal", words: string, retryable = false): RondoError =>
    new RondoError(kind, `cannot ${doing} the journal ${file}: ${words}`, { cause: thrown, retryable });
  switch (typeof errcode === "number" ? errcode & 0xff : undefined) {
    case codes.busy:
      return error(
        "storage",
        `another process kept it locked (${because}); try again, or set busyTimeoutMs higher`,
        true,
      );
    case codes.full:
      return error(
        "storage",
        `the disk is full (${because}). Everything stored before is safe, nothing of this group was stored; free some space`,
      );
    case codes.ioError:
      return error(
        "storage",
        `the disk failed (${because}). Everything stored before is safe; look at the disk and its limits`,
      );
    case codes.readOnly:
    case codes.cannotOpen: {
      const why = file === ":memory:" ? undefined : whyNotOpened(dirname(file));
      return error("storage", `${because}; ${why ?? "the file and its folder must be writable"}`);
    }
    case codes.error:
    case codes.corrupt:
    case codes.notADatabase:
      return error(
        "storage",
        `the file is damaged (${because}); see what is left with \`rondo journal check\`, restore a copy, or save what can be read with \`sqlite3 FILE .recover\``,
      );
    default:
      return error(isOfSystem(thrown) ? "storage" : "internal", because);
  }
}

function pragma(db: DatabaseSync, name: "application_id" | "user_version"): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function isBlank(db: DatabaseSync): boolean {
  if (pragma(db, "application_id") !== 0) return false;
  return db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
}

/** Two processes that make the change at once can be told `busy` without SQLite waiting for them. */
function useWal(db: DatabaseSync, busyTimeoutMs: number): void {
  const until = Date.now() + busyTimeoutMs;
  for (;;) {
    try {
      db.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (thrown) {
      const errcode = (thrown as { errcode?: number }).errcode ?? 0;
      if ((errcode & 0xff) !== codes.busy || Date.now() >= until) throw thrown;
      pause();
    }
  }
}

/** For a moment, in which another process may finish. It blocks the thread, as SQLite's own waits do. */
export function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
}

/** Late, because importing a journal must cost nothing; quiet, because Node 22 calls the module experimental. */
export function loadSqlite(): typeof DatabaseSync {
  const { emitWarning } = process;
  const quieter = (warning: string | Error, ...rest: unknown[]): void => {
    if (String(warning).includes("SQLite")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  process.emitWarning = quieter;
  try {
    const sqlite = process.getBuiltinModule("node:sqlite");
    if (sqlite !== undefined) return sqlite.DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
  throw new RondoError(
    "invalid_request",
    `journals in files need Node 22.18 or newer; this is Node ${process.versions.node}, which has no node:sqlite`,
  );
}
