// The room of a file that is open: whether it is still the one at its path, with what SQLite keeps beside it.
//
// What is written to files that were deleted is gone when they are closed, and SQLite says nothing of it.

import { realpathSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { RondoError } from "@rondo/core";
import { identityOf, isCut, nowOpen } from "./file.ts";

/** The file of a database that is open, or none for one in memory. */
export class OpenFile {
  readonly #db: DatabaseSync;
  readonly #file: string | undefined;
  /** Behind a link: there SQLite keeps the files beside it. */
  readonly #real: string;
  readonly #identity: string | undefined;
  readonly #beside: string | undefined;
  readonly #noLongerOpen: () => void;

  constructor(db: DatabaseSync, file: string) {
    this.#db = db;
    this.#file = file === ":memory:" ? undefined : file;
    this.#real = this.#file === undefined ? file : realpathSync(this.#file);
    this.#identity = this.#file && identityOf(this.#file);
    // The first look into it opens what stands beside it, and that stays for as long as anybody has it open.
    db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get();
    this.#beside = this.#file && besideOf(this.#real);
    this.#noLongerOpen = nowOpen(this.#identity);
  }

  /** @param so what that comes to for who asks, a sentence @throws RondoError `storage` where it was taken away */
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

  /** What was written last and stands in a deleted file alone is put into the file itself, while that can still be read. */
  save(): void {
    const file = this.#file;
    if (file === undefined || identityOf(file) !== this.#identity || besideOf(this.#real) === this.#beside)
      return;
    // Somebody else goes on with another one.
    if (identityOf(`${this.#real}-wal`) !== undefined) return;
    try {
      this.#db.exec("PRAGMA wal_checkpoint(FULL)");
    } catch {
      // What went wrong first is what the caller must hear.
    }
  }

  /** Where it is, whatever leads there. */
  get place(): string {
    return this.#real;
  }

  closed(): void {
    this.#noLongerOpen();
  }
}

/** What SQLite keeps beside a file while it is open anywhere: what was written last, and its index. */
const besideOf = (file: string): string => `${identityOf(`${file}-wal`)} ${identityOf(`${file}-shm`)}`;
