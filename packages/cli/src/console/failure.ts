// The room of failures: the message when the command cannot do what was asked.
//
// One line that names the cause and says what to do. A stack trace is for developers, and only with RONDO_DEBUG=1.

import { messageOf } from "@rondo/core";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { joinedLines, plainText } from "./plain-text.ts";

/** The command line itself is wrong: exit code 2. A missing folder, file or run is a plain `Failure`. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** Something is missing or cannot be done: exit code 1. */
export class Failure extends Error {
  override readonly name: string = "Failure";
}

/** The message for anything thrown, and its exit code. */
export function failureOf(
  thrown: unknown,
  env: { readonly [name: string]: string | undefined },
): { line: string; code: ExitCode } {
  const message = joinedLines(isHomeless(thrown) ? homeless : commandWords(messageOf(thrown)), " ");
  const trace =
    env.RONDO_DEBUG === "1" && thrown instanceof Error && thrown.stack !== undefined
      ? `\n${traceOf(thrown)}`
      : "";
  return {
    line: `rondo: ${message}${trace}`,
    code: thrown instanceof UsageError ? exitCodes.usage : exitCodes.error,
  };
}

/** How the command does what the library's words advise. */
const commandWords = (message: string): string =>
  message.replace("follow() it as a reader, or open it with takeOver", "or take it over with --force");

/** Whether the folder of the process was asked for, and is gone: removed, or a branch without it was checked out. */
const isHomeless = (thrown: unknown): boolean =>
  thrown instanceof Error && "syscall" in thrown && thrown.syscall === "uv_cwd";

const homeless =
  "the folder that you are in does not exist any more; change to one that does (cd), or give every path in full, --root as well";

function traceOf(error: Error): string {
  const { cause } = error;
  return plainText(`${error.stack}${cause instanceof Error ? `\ncaused by ${cause.stack}` : ""}`);
}
