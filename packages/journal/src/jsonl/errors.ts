// The room of a JSONL journal's errors: what the system says of its files, and SQLite of its lock.

import { dirname, join } from "node:path";
import { messageOf, RondoError } from "@rondo/core";
import { codeIn, codes, lossOf } from "../sqlite/errors.ts";
import { whyNotOpened } from "../system-says.ts";

/** Operations for which a file only has to be readable. */
const reading: ReadonlySet<string> = new Set(["read", "list", "check"]);

const checkDisk = "look at the disk and its limits";

/** A system error as a RondoError that names the file. */
export function fileError(path: string, doing: string, thrown: unknown): RondoError {
  if (thrown instanceof RondoError) return thrown;
  const { code } = Object(thrown) as { code?: string };
  const says = `cannot ${doing} the journal ${path}`;
  const because = messageOf(thrown);
  const storage = (words: string, retryable = false): RondoError =>
    new RondoError("storage", `${says}: ${words}`, { cause: thrown, retryable });
  const failed = (what: string, remedy: string): RondoError =>
    storage(`${what} (${because}). Everything stored before is safe${lossOf(doing)}; ${remedy}`);
  const lock = codeIn(thrown);
  if (lock === codes.busy)
    return storage(`another process kept its folder locked (${because}); try again once it has let go`, true);
  const folder = dirname(path);
  if (lock === codes.readOnly || lock === codes.cannotOpen) {
    const why = whyNotOpened(folder);
    return storage(
      why === undefined
        ? `its lock cannot be had (${because}); the folder ${folder} must be writable`
        : `its lock cannot be had (${why})`,
    );
  }
  if (lock === codes.ioError) return failed("the disk failed", checkDisk);
  // SQLite also says so when a page cannot be read.
  if (lock === codes.corrupt || lock === codes.notADatabase)
    return storage(
      `${lock === codes.corrupt ? "the disk failed, or " : ""}${join(folder, "lock")} is not the lock of a journal ` +
        `(${because}); if no other program needs it, remove it, else use another folder`,
    );
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return failed("the disk is full", "free some space");
    case "EFBIG":
    case "EIO":
      return failed("the disk failed", checkDisk);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return storage(
        `${because}; the folder ${folder} and its files must be ${reading.has(doing) ? "readable" : "writable"}`,
      );
    default:
      return code === undefined
        ? new RondoError("internal", `${says}: ${because}`, { cause: thrown })
        : storage(because);
  }
}
