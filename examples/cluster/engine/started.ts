// The room of what was started: processes of our own, which end when we do, however we do.
//
// Each leads a process group of its own, so that Ctrl-C in a terminal reaches us alone and the order in which things end
// is ours. Where the system can (`setpriv`), a process dies with us even when we are killed ourselves.

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";

const running = new Set<ChildProcess>();
const folders = new Set<string>();
let watching = false;

const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path));

/** Starts a process that does not outlive this one. */
export function startProcess(
  command: string,
  args: readonly string[],
  options: Omit<SpawnOptions, "detached">,
): ChildProcess {
  watch();
  const child =
    setpriv === undefined
      ? spawn(command, args, { ...options, detached: true })
      : spawn(setpriv, ["--pdeathsig", "KILL", "--", command, ...args], { ...options, detached: true });
  running.add(child);
  child.once("exit", () => running.delete(child));
  child.once("error", () => running.delete(child));
  return child;
}

/** A folder that is gone when this process is. */
export function ownFolder(folder: string): void {
  watch();
  folders.add(folder);
}

export function removeFolder(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Sends a signal to a process and whatever it started. Nobody there any more: nothing to do. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal);
  }
}

export const isRunning = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/** Resolves when the process is gone. */
export function gone(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return Promise.resolve();
  return new Promise((settle) => {
    child.once("exit", () => settle());
    child.once("error", () => settle());
  });
}

/** Asks a process to end, and ends it when it has not after so many milliseconds. */
export async function end(child: ChildProcess, patienceMs: number): Promise<void> {
  if (!isRunning(child)) return;
  signalGroup(child, "SIGTERM");
  const timer = setTimeout(() => signalGroup(child, "SIGKILL"), patienceMs);
  await gone(child);
  clearTimeout(timer);
}

function endAll(): void {
  for (const child of running) signalGroup(child, "SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function watch(): void {
  if (watching) return;
  watching = true;
  process.once("exit", endAll);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const ended = (): void => {
      endAll();
      // Whoever else listens says what becomes of us; nobody else: what the signal says.
      process.off(signal, ended);
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    };
    process.on(signal, ended);
  }
}
