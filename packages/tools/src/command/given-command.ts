// The room of the given command: which commands a shell can take, and on which systems there is one.

import { RondoError } from "@rondo/core";
import { counted, Refusal } from "../reasons.ts";

/** Longest command, in bytes. */
const maxCommandBytes = 100_000;

/** @throws RondoError `capability` on Windows, which has no POSIX shell */
export function mustHaveShell(tool: string): void {
  if (process.platform === "win32")
    throw new RondoError("capability", `${tool} needs a POSIX shell; on Windows run it in WSL`);
}

/** @throws Refusal when no shell could run the command */
export function mustBeCommand(command: string): void {
  if (command.includes("\0")) throw new Refusal("the command holds a NUL character");
  if (Buffer.byteLength(command) > maxCommandBytes)
    throw new Refusal(
      `the command is longer than ${counted(maxCommandBytes, "byte")}; write it to a file and run that`,
    );
}
