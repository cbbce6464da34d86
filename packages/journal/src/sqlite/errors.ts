// The room of SQLite's errors: its result codes by name, and the message for each.

import { dirname } from "node:path";
import { messageOf, RondoError } from "@rondo/core";
import { isOfSystem, whyNotOpened } from "../system-says.ts";

/** SQLite's primary result codes that mean something to a user. */
export const codes = {
  /** A statement does not match the tables. Our statements are fixed, so the tables were changed. */
  error: 1,
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  /** We check every row before inserting or deleting, so a violated constraint means that the tables contradict each other. */
  constraint: 19,
  notADatabase: 26,
} as const;

/** The primary code of an SQLite error; undefined for any other error. */
export function codeIn(thrown: unknown): number | undefined {
  const { errcode } = Object(thrown) as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}

/** What the error means for the group that was to be appended, if there was one. */
export const lossOf = (doing: string): string =>
  doing === "append to" ? ", nothing of this group was stored" : "";

/** An error of SQLite (or of the system under it) as a RondoError that names the file. */
export function sqliteError(file: string, doing: string, thrown: unknown): RondoError {
  if (thrown instanceof RondoError) return thrown;
  const because = messageOf(thrown);
  const error = (kind: "storage" | "internal", words: string, retryable = false): RondoError =>
    new RondoError(kind, `cannot ${doing} the journal ${file}: ${words}`, { cause: thrown, retryable });
  switch (codeIn(thrown)) {
    case codes.busy:
      return error(
        "storage",
        `another process kept it locked (${because}); try again once it has let go`,
        true,
      );
    case codes.full:
      return error(
        "storage",
        `the disk is full (${because}). Everything stored before is safe${lossOf(doing)}; free some space`,
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
    case codes.constraint:
    case codes.notADatabase: {
      // Somebody running the check needs no advice to run it.
      const see = doing === "check" ? "" : "see what is left with `rondo journal check`, ";
      // SQLite also says `malformed` when the disk fails to deliver a page.
      const what = `damaged${codeIn(thrown) === codes.corrupt ? ", or the disk failed" : ""}`;
      return error(
        "storage",
        `the file is ${what} (${because}); ${see}restore a copy, or save what can be read with \`sqlite3 FILE .recover\``,
      );
    }
    default:
      return error(isOfSystem(thrown) ? "storage" : "internal", because);
  }
}
