// The room of inherited files: keeps file descriptors that this process inherited from reaching commands.
//
// A child inherits open locks, logs and folders at its start, and a sandbox only blocks paths. Node closes the low
// numbers in its children; in place of the others a command gets /dev/null.

import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";

/** The close-on-exec flag, as /proc/PID/fdinfo shows it. */
const closedOnExec = 0o2000000;

/** Nobody leaves descriptors open above this, and a longer list would be slow. */
const highest = 10_000;

/** The descriptors above 2 that a child would inherit. */
function leftOpen(): number[] {
  if (process.platform !== "linux") return [];
  const found = readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((fd) => fd > 2 && fd < highest && isHandedOn(fd));
  // The child sets them up in two moves, through numbers above all of them, which may not exist.
  const room = mostFiles() - found.length - 4;
  return found.filter((fd) => fd <= room);
}

/** The limit of open files of this process; descriptors count from 0. */
function mostFiles(): number {
  const [, soft = ""] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  return soft === "" ? Number.POSITIVE_INFINITY : Number(soft);
}

function isHandedOn(fd: number): boolean {
  try {
    const [, flags = ""] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & closedOnExec) === 0;
  } catch {
    // The descriptor with which the folder was read: closed by now.
    return false;
  }
}

/** Determined once: what Node opens later is close-on-exec. */
let files: readonly number[] | undefined;

/** Entries for a child's `stdio` after the first three, so that it inherits none of them. Call `close` once the child has started. */
export function withheld(): { stdio: (number | "ignore")[]; close(): void } {
  try {
    files ??= leftOpen();
  } catch {
    // There is no list; or no more files can be opened, and then the command cannot start either.
    return { stdio: [], close: () => {} };
  }
  const known = files;
  if (known.length === 0) return { stdio: [], close: () => {} };
  // One for each: Deno hands a descriptor on only once, and closes it then.
  const nothing: number[] = [];
  const close = (): void => nothing.forEach(closed);
  try {
    for (const _ of known) nothing.push(openSync("/dev/null", "r+"));
  } catch (thrown) {
    close();
    throw thrown;
  }
  const stdio = Array.from(
    { length: Math.max(...known) - 2 },
    (_, at) => nothing[known.indexOf(at + 3)] ?? "ignore",
  );
  return { stdio, close };
}

function closed(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // The runtime did it.
  }
}
