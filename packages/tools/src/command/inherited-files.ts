// The room of inherited files: those that whoever started this process left open for it are not a command's.
//
// A lock, a log, a folder: a child is given them with its start, and a sandbox shuts only paths. Node closes those with low
// numbers to its children; in the place of the others a command is given /dev/null.

import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";

/** As the system writes it of a file that no child is given. */
const closedOnExec = 0o2000000;

/** Behind so many nobody leaves anything open, and a list so long would take its time. */
const highest = 10_000;

/** The numbers of the files that a child would be given, behind its first three. */
function leftOpen(): number[] {
  if (process.platform !== "linux") return [];
  const found = readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((fd) => fd > 2 && fd < highest && isHandedOn(fd));
  // In the child they are set in two moves, by way of numbers above all of them, and there may be none.
  const room = mostFiles() - found.length - 4;
  return found.filter((fd) => fd <= room);
}

/** How many files this process may have open; they are numbered from 0. */
function mostFiles(): number {
  const [, soft = ""] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  return soft === "" ? Number.POSITIVE_INFINITY : Number(soft);
}

function isHandedOn(fd: number): boolean {
  try {
    const [, flags = ""] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & closedOnExec) === 0;
  } catch {
    // The folder that was read here: it is closed again.
    return false;
  }
}

/** Looked for once: what Node opens later it opens for itself alone. */
let files: readonly number[] | undefined;

/** What stands in a child's `stdio` behind the first three, so that it is given none of them. `close` it once the child has begun. */
export function withheld(): { stdio: (number | "ignore")[]; close(): void } {
  try {
    files ??= leftOpen();
  } catch {
    // Nothing tells of them; or no more files can be opened, and then the command cannot begin either.
    return { stdio: [], close: () => {} };
  }
  const known = files;
  if (known.length === 0) return { stdio: [], close: () => {} };
  const nothing = openSync("/dev/null", "r+");
  const stdio = Array.from({ length: Math.max(...known) - 2 }, (_, at) =>
    known.includes(at + 3) ? nothing : "ignore",
  );
  return { stdio, close: () => closeSync(nothing) };
}
