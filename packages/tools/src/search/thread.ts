// The room of the search's thread, as it is seen from outside: it is started, heard, and ended.
//
// A regular expression can take longer than the universe lasts, and nothing in the same thread can stop it.

import { Refusal } from "../reasons.ts";
import { afterMs } from "../timer.ts";
import { type FoundLine, noNews, type SearchNews, type SearchOrder } from "./thread-messages.ts";

/** What a search has found. */
export interface Found {
  lines: FoundLine[];
  news: SearchNews;
  /** The file the search was in when its time was up. */
  stoppedIn: string | undefined;
}

/**
 * Searches in a thread, and ends it when its time is up.
 * @throws Refusal for what the thread refuses, and where it has not memory enough; the signal's reason when it was aborted
 */
export async function searched(order: SearchOrder, timeLimitMs: number, signal: AbortSignal): Promise<Found> {
  const { Worker } = await import("node:worker_threads");
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Found>();
  const lines: FoundLine[] = [];
  let news: SearchNews = { ...noNews, lines: [] };
  // Below this file as a source, and below the one file that all are in when they are compiled.
  const file = import.meta.url.endsWith(".ts") ? "./worker/main.ts" : "./search/worker/main.js";
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    // What this process was started with is not for the thread: `--input-type` alone would keep it from starting.
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
    // The thread is gone before the call has its result: nothing of it runs on behind the model's back.
    worker.terminate().then(act, act);
  };
  const aborted = (): void => settle(() => reject(signal.reason));
  const stop = (): void => {
    const length = new DataView(order.at).getUint32(0);
    const stoppedIn = new TextDecoder().decode(new Uint8Array(order.at, 4, length).slice());
    settle(() => resolve({ lines, news, stoppedIn }));
  };
  // For the thread to begin; from then on the search has its time, however long a busy machine took to start a thread.
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
      // One by one: of a single file there may be more than a call takes arguments.
      for (const line of message.lines) lines.push(line);
    }
  });
  worker.on("error", (thrown: unknown) => {
    const memory = (thrown as { code?: unknown }).code === "ERR_WORKER_OUT_OF_MEMORY";
    settle(() =>
      reject(memory ? new Refusal("the search needed too much memory; nothing is known") : asRefusal(thrown)),
    );
  });
  worker.on("exit", () => settle(() => reject(new Error("the search's thread ended without an answer"))));
  if (signal.aborted) aborted();
  return promise;
}

/** Milliseconds a thread may take to begin. */
const startMs = 5_000;

/** A refusal crosses a thread as a plain error with a name. */
function asRefusal(thrown: unknown): unknown {
  return thrown instanceof Error && thrown.name === "Refusal" ? new Refusal(thrown.message) : thrown;
}
