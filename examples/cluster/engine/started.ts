// The room of child processes that end when we do, whatever the reason.
//
// Each leads its own process group, so that Ctrl-C in a terminal reaches only us, and we decide in which order things
// end. Where `setpriv` is available, a child dies even when we are killed ourselves.

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

/** Removes a folder when this process ends. */
export function ownFolder(folder: string): void {
  watch();
  folders.add(folder);
}

export function removeFolder(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Sends a signal to a process and everything it started; does nothing if it is gone. */
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

/** Asks a process to end, and kills it after some milliseconds. */
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
      // If somebody else listens for the signal, they decide; otherwise it has its default effect.
      process.off(signal, ended);
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    };
    process.on(signal, ended);
  }
}
