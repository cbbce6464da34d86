// The room of the given command: which commands a shell can take, and on which systems there is one.
//
// What a model wrapped in Markdown or escaped as HTML is shell code too, and does harm: a code fence is a command whose output is
// run, and `a &gt; b` runs a, gt and b.

import { RondoError } from "@rondo/core";
import { counted, Refusal } from "../reasons.ts";
import { unquoted } from "./shell-outline.ts";

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
  if (/^\s*```/.test(command))
    throw new Refusal(
      "the command is in a code fence, which a shell would run; it was not run. Give it without the ```",
    );
  const entity = command.includes("&")
    ? /&(?:amp|gt|lt|quot|apos|#39);/.exec(unquoted(command))?.[0]
    : undefined;
  if (entity !== undefined)
    throw new Refusal(
      `the command is escaped as HTML (${entity}), which a shell reads otherwise; it was not run. Give the characters themselves`,
    );
}
