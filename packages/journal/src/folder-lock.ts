// The room of the folder's lock: one writer at a time among all processes, and none that outlives its process.
//
// Node has no file locks of its own, and a lock that is a file stays behind when its process is killed; telling a stale
// one from a live one is a race that cannot be won. SQLite holds real locks of the system, which end with the process,
// so a database that nothing is ever stored in does nothing but lock.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { loadSqlite } from "./sqlite/database.ts";
import { identityOf } from "./sqlite/file.ts";

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

  /** Holds the lock while it acts, which must be synchronous. Throws what SQLite throws when it cannot be had. */
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

  /** A lock on a file that was deleted holds nobody up who comes after: they lock another one of its name. */
  #take(): void {
    // Bounded: some file systems have a new identity for a file each time they are asked.
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
      // Nothing is stored, so nothing need be safe.
      db.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF");
      // Even a commit of nothing writes the first page of a new file, which a full disk refuses: after the deed was done.
      this.#begin = db.prepare("BEGIN IMMEDIATE");
      this.#end = db.prepare("ROLLBACK");
      this.#identity = identityOf(this.#file);
    } catch (thrown) {
      // Whoever tries again opens it again.
      db.close();
      throw thrown;
    }
    this.#db = db;
  }
}
