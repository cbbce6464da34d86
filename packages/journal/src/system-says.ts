// The room of what the system says of a call on a file, and what that means.

import { opendirSync } from "node:fs";
import { messageOf } from "@rondo/core";

/** Whether there is no such file, or no folder on the way to it. */
export const isMissing = (thrown: unknown): boolean =>
  (thrown as NodeJS.ErrnoException | undefined)?.code === "ENOENT";

/** What the system says against opening a folder, which SQLite does not tell; undefined where it opens. */
export function whyNotOpened(folder: string): string | undefined {
  try {
    opendirSync(folder).closeSync();
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** Whether the system said it, of a call on a file: anything else nobody foresaw. */
export const isOfSystem = (thrown: unknown): boolean =>
  typeof (Object(thrown) as { syscall?: unknown }).syscall === "string";

/** What is wrong with one file, and need not be with the next. */
const ofOneFile: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EIO", "EISDIR", "ELOOP"]);

/** Whether the system says of this file alone that it cannot be used. */
export const isOfOneFile = (thrown: unknown): boolean =>
  ofOneFile.has((thrown as NodeJS.ErrnoException | undefined)?.code ?? "");
