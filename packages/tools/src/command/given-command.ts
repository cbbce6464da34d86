// The room of the given command: what can be handed to a shell, and where there is one.

import { RondoError } from "@rondo/core";
import { counted, Refusal } from "../reasons.ts";

/** The longest command, in bytes. */
const maxCommandBytes = 100_000;

/** @throws RondoError `capability` on Windows, which has no POSIX shell */
export function mustHaveShell(tool: string): void {
  if (process.platform === "win32")
    throw new RondoError("capability", `${tool} needs a POSIX shell; on Windows run it in WSL`);
}

/** @throws Refusal when no shell could be given the command */
export function mustBeCommand(command: string): void {
  if (command.includes("\0")) throw new Refusal("the command holds a NUL character");
  if (Buffer.byteLength(command) > maxCommandBytes)
    throw new Refusal(
      `the command is longer than ${counted(maxCommandBytes, "byte")}; write it to a file and run that`,
    );
}
