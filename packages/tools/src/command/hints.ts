// The room of hints: what a command's result does not show, and a model easily overlooks.

import { realpathSync } from "node:fs";
import { outlineOf } from "./shell-outline.ts";

/** What of an outcome hints are about. */
interface Ending {
  stderr: string;
  code: number | null;
  signal: string | null;
  timedOutMs: number | undefined;
}

/** Commands that change their own shell alone, which ends with them. */
const forItsShell: ReadonlySet<string> = new Set(
  "cd pushd popd export unset alias source . set umask ulimit nvm conda pyenv".split(" "),
);

/** A complaint of the shell itself. */
const shellSays = /^(?:\/bin\/)?sh: (?:line )?(?:\d+: )?(.*)/gm;

/** What dash and its like say of bash's syntax and commands. */
const ofBash: readonly RegExp[] = [
  /^(?:\[\[|source|shopt|declare|typeset|pushd|popd|mapfile|readarray|function): not found/,
  /^Syntax error: /,
  /^syntax error: unexpected/,
  /[Bb]ad substitution/,
  /^set: Illegal option -o pipefail/,
  /^read: Illegal option/,
  /^\[: .*unexpected operator/,
];

/** Whether the shell did not understand what bash would have. */
const missesBash = (stderr: string): boolean =>
  [...stderr.matchAll(shellSays)].some(([, words = ""]) => ofBash.some((pattern) => pattern.test(words)));

/** What is said behind an exit code: whose it is, if a pipe hides those of the others. */
export function whoseExit(command: string): string {
  const outline = command.includes("|") ? outlineOf(command) : undefined;
  return outline?.isPiped && outline.last !== undefined
    ? ` (that of ${outline.last}, the last in the pipe)`
    : "";
}

/** Notes on an outcome. */
export function hintsOf(command: string, { code, signal, stderr, timedOutMs }: Ending): string[] {
  const outline = outlineOf(command);
  const notes: string[] = [];
  if (code === 0 && outline?.last !== undefined && forItsShell.has(outline.last))
    notes.push(
      "each command has a shell of its own: folder and variables set here are gone; give cwd, or write both in one command",
    );
  if (code !== null && missesBash(stderr))
    notes.push("the shell is /bin/sh: if this is meant for bash, run it with bash -c");
  else if (outline !== undefined && outline.misread.length > 0 && isPlainShell())
    notes.push(
      `/bin/sh does not read ${outline.misread.join(", ")} as bash does: if that was meant, use bash -c`,
    );
  if (timedOutMs !== undefined)
    notes.push(
      "if it was at work, give it more time with timeoutMs; a server does not end: start it with & in the command that uses it",
    );
  else if (signal !== null && /\b(?:pkill|pgrep|killall)\b[^|;&\n]*\s-\w*f/.test(command))
    notes.push("its pattern may have matched the shell that ran it: [n]ame matches name, but not itself");
  return notes.map((note) => `[${note}]`);
}

let plain: boolean | undefined;

/** Whether /bin/sh is one that knows no more than POSIX. */
function isPlainShell(): boolean {
  try {
    plain ??= /(?:dash|busybox|ash)$/.test(realpathSync("/bin/sh"));
  } catch {
    plain = false;
  }
  return plain;
}
