// The room of the clock after the finish signal: a server that keeps the connection open after a whole answer must not turn
// that answer into a timeout.

import { type Clock, type ModelIo, systemClock } from "@rondo/core";
import type { HttpResponse } from "../transport/http.ts";

/** How many milliseconds to wait for what may follow a finish signal, usually the usage. */
const behindMs = 10_000;

export class ClockBehind {
  ranOut = false;
  isWound = false;
  readonly #response: HttpResponse;
  readonly #clock: Clock;
  readonly #ms: number;
  #stop: (() => void) | undefined;
  #leave: (() => void) | undefined;

  constructor(response: HttpResponse, { clock = systemClock, clocks }: Pick<ModelIo, "clock" | "clocks">) {
    this.#response = response;
    this.#clock = clock;
    this.#ms = Math.min(behindMs, (clocks?.idleMs ?? Number.POSITIVE_INFINITY) / 2);
  }

  wind(): void {
    this.#stop?.();
    this.isWound = true;
    this.#stop = this.#clock.after(this.#ms, () => {
      this.ranOut = true;
      this.#response.discard();
      this.#leave?.();
    });
  }

  stop(): void {
    this.#stop?.();
  }

  /** Waits until the body is read, or until this clock has run out. */
  outOr(read: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#leave = resolve;
      read().then(resolve, reject);
    });
  }
}
