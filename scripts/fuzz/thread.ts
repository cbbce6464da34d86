// The room of the watched thread: tries inputs where they may hang, and terminates a thread that does.

import { Worker } from "node:worker_threads";
import type { Answer, Order } from "./orders.ts";

/** A thread that did not answer, with the number of its current input. */
export interface Lost {
  lost: string;
  number: number;
}

export class WatchedThread {
  readonly #scratch: string;
  readonly #stallMs: number;
  #counter = new Int32Array(new SharedArrayBuffer(8));
  #worker: Worker | undefined;

  /** @param stallMs how long one input may take before the thread is terminated */
  constructor(scratch: string, stallMs: number) {
    this.#scratch = scratch;
    this.#stallMs = stallMs;
  }

  /** Gives an order. A terminated thread is replaced with the next order. */
  async give(order: Order): Promise<Answer | Lost> {
    const worker = this.#worker ?? this.#start();
    return new Promise((settle) => {
      const end = (answer: Answer | Lost): void => {
        clearInterval(watch);
        worker.off("message", end).off("exit", onExit);
        // A later error does not matter, and must not end the process.
        worker.on("error", ignore).off("error", onError);
        if ("lost" in answer) {
          this.#worker = undefined;
          worker.terminate().then(
            () => settle(answer),
            () => settle(answer),
          );
        } else settle(answer);
      };
      const onError = (thrown: unknown): void => {
        const { code, message } = thrown as { code?: string; message?: string };
        lost(
          code === "ERR_WORKER_OUT_OF_MEMORY"
            ? "growth: out of memory"
            : `crash: ${message ?? String(thrown)}`,
        );
      };
      const onExit = (code: number): void => lost(`crash: the thread exited with ${code}`);
      const lost = (words: string): void => end({ lost: words, number: Atomics.load(this.#counter, 0) });
      let beats = Atomics.load(this.#counter, 1);
      let since = performance.now();
      const watch = setInterval(
        () => {
          const now = Atomics.load(this.#counter, 1);
          if (now !== beats) {
            beats = now;
            since = performance.now();
          } else if (performance.now() - since > this.#stallMs)
            lost(`hang: no answer in ${this.#stallMs} ms`);
        },
        Math.min(100, this.#stallMs / 4),
      );
      worker.on("message", end).on("error", onError).on("exit", onExit).off("error", ignore);
      worker.postMessage(order);
    });
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    this.#worker = new Worker(new URL("./worker-main.ts", import.meta.url), {
      execArgv: ["--conditions=rondo-source", "--disable-warning=ExperimentalWarning"],
      workerData: { counter: this.#counter.buffer, scratch: this.#scratch },
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    });
    return this.#worker;
  }
}

const ignore = (): void => {};
