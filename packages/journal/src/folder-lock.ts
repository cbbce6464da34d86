// The room of the folder lock: one writer at a time among all processes, released when its process ends.
//
// Node has no file locks of its own. A lock file stays behind when its process is killed, and telling a stale one from a
// live one is a race that cannot be won. SQLite uses the system's locks, which end with the process, so an empty
// database serves as the lock.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { identityOf } from "./sqlite/file.ts";
import { loadSqlite } from "./sqlite/library.ts";

export class FolderLock {
  readonly #file: string;
  readonly #timeoutMs: number;
  #db: DatabaseSync | undefined;
  #identity: string | undefined;
  #begin: StatementSync | undefined;
  #end: StatementSync | undefined;

  constructor(file: string, timeoutMs: number) {
    this.#file = file;
    this.#timeoutMs = timeoutMs;
  }

  /** Holds the lock while `act` runs, which must be synchronous. Throws SQLite's error when the lock cannot be had. */
  hold<T>(act: () => T): T {
    this.#take();
    try {
      return act();
    } finally {
      this.#end?.run();
    }
  }

  close(): void {
    this.#db?.close();
    this.#db = undefined;
  }

  /** A lock on a deleted file would exclude nobody: later processes lock the new file of that name. So it reopens. */
  #take(): void {
    // Bounded: some file systems report a new identity for a file on every stat.
    for (let left = 3; ; left -= 1) {
      this.#open();
      this.#begin?.run();
      const now = identityOf(this.#file);
      if (left === 0 || (now !== undefined && now === this.#identity)) return;
      this.close();
    }
  }

  #open(): void {
    if (this.#db !== undefined) return;
    const db = new (loadSqlite())(this.#file, { timeout: this.#timeoutMs });
    try {
      // Nothing is stored, so nothing needs to be durable.
      db.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF");
      // Even an empty commit writes the first page of a new file, and on a full disk that would fail after the work was done.
      this.#begin = db.prepare("BEGIN IMMEDIATE");
      this.#end = db.prepare("ROLLBACK");
      this.#identity = identityOf(this.#file);
    } catch (thrown) {
      // The next attempt reopens it.
      db.close();
      throw thrown;
    }
    this.#db = db;
  }
}
