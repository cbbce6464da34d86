// The room of the search thread, seen from the main thread: starts it, listens to it, and terminates it.
//
// A regular expression can run practically forever, and nothing in the same thread can stop it.

import { Refusal } from "../reasons.ts";
import { afterMs } from "../timer.ts";
import { type FoundLine, noNews, type SearchNews, type SearchOrder } from "./thread-messages.ts";

/** What a search has found. */
export interface Found {
  lines: FoundLine[];
  news: SearchNews;
  /** The file that was being searched when the time was up. */
  stoppedIn: string | undefined;
}

/**
 * Searches in a thread, and terminates it at the time limit.
 * @throws Refusal for what the thread refuses, and when it runs out of memory; the signal's reason when it was aborted
 */
export async function searched(order: SearchOrder, timeLimitMs: number, signal: AbortSignal): Promise<Found> {
  const { Worker } = await import("node:worker_threads");
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Found>();
  const lines: FoundLine[] = [];
  let news: SearchNews = { ...noNews, lines: [] };
  // Relative to this source file, or to the bundle that contains it once compiled.
  const file = import.meta.url.endsWith(".ts") ? "./worker/main.ts" : "./search/worker/main.js";
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    // This process's own flags are not for the thread: `--input-type` alone would keep it from starting.
    execArgv: [],
    env: {},
    stderr: true,
    stdout: true,
  });
  let settled = false;
  const settle = (act: () => void): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
    // The thread is gone before the result is returned: nothing runs on in the background.
    worker.terminate().then(act, act);
  };
  const aborted = (): void => settle(() => reject(signal.reason));
  const stop = (): void => {
    const length = new DataView(order.at).getUint32(0);
    const stoppedIn = new TextDecoder().decode(new Uint8Array(order.at, 4, length).slice());
    settle(() => resolve({ lines, news, stoppedIn }));
  };
  // Time to start the thread; once it reports, the search gets its full time limit, even on a busy machine.
  let timer = afterMs(timeLimitMs + startMs, stop);
  signal.addEventListener("abort", aborted, { once: true });
  worker.on("message", (message: SearchNews | "begun" | "done") => {
    if (settled) return;
    if (message === "begun") {
      clearTimeout(timer);
      timer = afterMs(timeLimitMs, stop);
    } else if (message === "done") settle(() => resolve({ lines, news, stoppedIn: undefined }));
    else {
      news = message;
      // One by one: one file may have more lines than a call takes arguments.
      for (const line of message.lines) lines.push(line);
    }
  });
  worker.on("error", (thrown: unknown) => {
    const memory = (thrown as { code?: unknown }).code === "ERR_WORKER_OUT_OF_MEMORY";
    settle(() =>
      reject(
        memory ? new Refusal("the search needed too much memory; there is no result") : asRefusal(thrown),
      ),
    );
  });
  worker.on("exit", () => settle(() => reject(new Error("the search's thread ended without an answer"))));
  if (signal.aborted) aborted();
  return promise;
}

/** Time allowed for the thread to start, in milliseconds. */
const startMs = 5_000;

/** A refusal arrives from a thread as a plain error with a name. */
function asRefusal(thrown: unknown): unknown {
  return thrown instanceof Error && thrown.name === "Refusal" ? new Refusal(thrown.message) : thrown;
}
