// The room of worker processes: our own programs that listen on an address, report it, and may be killed.
//
// A program gets its arguments, sends `{ listening: address }` over Node's IPC channel (`process.send`), and then
// whatever else it has to report. It ends when that channel closes.

import type { ChildProcess } from "node:child_process";
import { end, gone, isRunning, signalGroup, startProcess } from "./started.ts";

export interface WorkerProcess {
  /** Its address, e.g. `http://127.0.0.1:40213`. */
  readonly address: string;
  readonly alive: boolean;
  /** Sends it a message. */
  tell(words: unknown): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Suspends it (SIGSTOP), or resumes it. */
  freeze(): void;
  thaw(): void;
  /** Asks it to end, and kills it after 5 s. */
  stop(): Promise<void>;
}

/**
 * Starts one. Resolves when it listens.
 *
 * @param program a file that Node can run
 * @param hear gets its other messages
 * @throws Error with its stderr, when it ends before it listens
 */
export function startWorkerProcess(
  program: string,
  args: readonly string[] = [],
  hear: (words: unknown) => void = () => {},
): Promise<WorkerProcess> {
  const child = startProcess(
    process.execPath,
    ["--conditions=rondo-source", "--disable-warning=ExperimentalWarning", program, ...args],
    { stdio: ["ignore", "ignore", "pipe", "ipc"] },
  );
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    errors = `${errors}${chunk}`.slice(-20_000);
  });
  return new Promise((settle, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) =>
      fail(new Error(`the worker ended (${code ?? signal}) before it listened: ${errors}`)),
    );
    child.on("message", (words) => {
      if (typeof words === "object" && words !== null && "listening" in words)
        settle(workerOf(child, String(words.listening)));
      else hear(words);
    });
  });
}

function workerOf(child: ChildProcess, address: string): WorkerProcess {
  return {
    address,
    get alive() {
      return isRunning(child);
    },
    tell: (words) => void (child.connected && child.send(words as object)),
    async kill() {
      if (!isRunning(child)) return;
      signalGroup(child, "SIGKILL");
      await gone(child);
    },
    freeze: () => signalGroup(child, "SIGSTOP"),
    thaw: () => signalGroup(child, "SIGCONT"),
    stop: () => end(child, 5_000),
  };
}
