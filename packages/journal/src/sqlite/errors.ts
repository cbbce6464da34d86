// The room of SQLite's errors: its codes by name, and what a user is told of each.

import { dirname } from "node:path";
import { messageOf, RondoError } from "@rondo/core";
import { isOfSystem, whyNotOpened } from "../system-says.ts";

/** SQLite's primary result codes that mean something to a user. */
export const codes = {
  /** A statement that does not fit the tables. The statements are ours and never change, so the tables have. */
  error: 1,
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  /** Every row is looked for before it is put in or taken out, so tables that stand against it contradict each other. */
  constraint: 19,
  notADatabase: 26,
} as const;

/** The primary code of what SQLite threw; undefined for what is none of its errors. */
export function codeIn(thrown: unknown): number | undefined {
  const { errcode } = Object(thrown) as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}

/** What comes of it for a group, where one was to be appended. */
export const lossOf = (doing: string): string =>
  doing === "append to" ? ", nothing of this group was stored" : "";

/** What SQLite (or the system under it) threw, in words that name the file. */
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
      // Who checks it has just been told to.
      const see = doing === "check" ? "" : "see what is left with `rondo journal check`, ";
      // SQLite says `malformed` of a page that the disk does not give as well.
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
