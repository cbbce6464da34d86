// The room of system errors: what an error of a file call means.

import { opendirSync } from "node:fs";
import { messageOf } from "@rondo/core";

/** Whether the file, or a folder on its path, does not exist. */
export const isMissing = (thrown: unknown): boolean =>
  (thrown as NodeJS.ErrnoException | undefined)?.code === "ENOENT";

/** Why a folder cannot be opened, which SQLite does not tell; undefined when it can. */
export function whyNotOpened(folder: string): string | undefined {
  try {
    opendirSync(folder).closeSync();
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** Whether it is a system error of a file call; anything else is unexpected. */
export const isOfSystem = (thrown: unknown): boolean =>
  typeof (Object(thrown) as { syscall?: unknown }).syscall === "string";

/** Errors that concern one file, and not necessarily the next. */
const ofOneFile: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EIO", "EISDIR", "ELOOP"]);

/** Whether the error says that only this file cannot be used. */
export const isOfOneFile = (thrown: unknown): boolean =>
  ofOneFile.has((thrown as NodeJS.ErrnoException | undefined)?.code ?? "");
