// The room of the open file: whether the path still has the file that was opened, with SQLite's files beside it.
//
// Writes to deleted files are lost when they are closed, and SQLite does not report it.

import { realpathSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { RondoError } from "@rondo/core";
import { identityOf, isCut } from "./file.ts";

/** The file of an open database; for one in memory, every check passes. */
export class OpenFile {
  readonly #db: DatabaseSync;
  readonly #file: string | undefined;
  /** With symlinks resolved: SQLite keeps its -wal and -shm beside the real file. */
  readonly #real: string;
  readonly #identity: string | undefined;
  readonly #beside: string | undefined;

  constructor(db: DatabaseSync, file: string) {
    this.#db = db;
    this.#file = file === ":memory:" ? undefined : file;
    this.#real = this.#file === undefined ? file : realpathSync(this.#file);
    this.#identity = this.#file && identityOf(this.#file);
    // The first query opens -wal and -shm, which then stay as long as any connection is open.
    db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get();
    this.#beside = this.#file && besideOf(this.#real);
  }

  /** @param so the consequence for the caller, as a sentence @throws RondoError `storage` when the file was removed or replaced */
  check(so: string): void {
    const file = this.#file;
    if (file === undefined) return;
    if (identityOf(file) !== this.#identity || isCut(file))
      throw new RondoError(
        "storage",
        `the journal ${file} is not the file any more that was opened: it was deleted, moved, replaced or cut to nothing meanwhile. ` +
          `${so}; put the file back, or close the journal and open it again`,
      );
    if (besideOf(this.#real) !== this.#beside)
      throw new RondoError(
        "storage",
        `the files beside the journal ${file} (-wal, -shm) are not those any more that were opened: they were deleted ` +
          `or replaced meanwhile. ${so}; close the journal and open it again`,
      );
  }

  /** If the -wal was deleted, writes its last commits into the file itself while they can still be read. */
  save(): void {
    const file = this.#file;
    if (file === undefined || identityOf(file) !== this.#identity || besideOf(this.#real) === this.#beside)
      return;
    // Another process already uses a new -wal.
    if (identityOf(`${this.#real}-wal`) !== undefined) return;
    try {
      this.#db.exec("PRAGMA wal_checkpoint(FULL)");
    } catch {
      // The caller must get the first error.
    }
  }

  /** The real path, with symlinks resolved. */
  get place(): string {
    return this.#real;
  }
}

/** The identities of -wal (the last commits) and -shm (its index). */
const besideOf = (file: string): string => `${identityOf(`${file}-wal`)} ${identityOf(`${file}-shm`)}`;
