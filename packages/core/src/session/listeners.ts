// The room of listeners: who hears a session's live events, and what becomes of one that fails.
//
// All hear every event, in the order they came in; the logger first, whose failures cost nothing. One that throws, or
// rejects while the run is driven, ends the run and hears no more of it; the others do.

import type { RondoEvent } from "../events.ts";
import { frozen } from "../json/copy.ts";
import { type Logger, logEvent } from "../logger.ts";
import type { Shell } from "../loop/driving/shell.ts";

export type Listener = (event: RondoEvent) => void;

export class Listeners {
  readonly #logger: Logger | undefined;
  /** Copied when it changes: it is walked for every event. */
  #listeners: readonly Listener[] = [];
  /** Those that failed in the run that goes on. */
  #deaf = new Set<Listener>();

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  /** Hears from now on; who hears already does not hear twice. Returns how to stop. */
  add(listener: Listener): () => void {
    if (!this.#listeners.includes(listener)) this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((one) => one !== listener);
    };
  }

  readonly tell: Shell["sink"] = (event, failed) => {
    if (this.#logger !== undefined) logEvent(this.#logger, event);
    if (event.type === "run_start") this.#deaf = new Set();
    const listeners = this.#listeners;
    // What is judged by is what will run. The rest is not frozen: doing it costs as much as a third of a step.
    if (event.type === "approval_request" && listeners.length > 0) frozen(event.call.args);
    let failure: { thrown: unknown } | undefined;
    for (let at = 0; at < listeners.length; at += 1) {
      const listener = listeners[at] as Listener;
      if (this.#deaf.size > 0 && this.#deaf.has(listener)) continue;
      try {
        const said: unknown = listener(event);
        if (said instanceof Promise) this.#heardLater(said, listener, event, failed);
      } catch (thrown) {
        this.#deaf.add(listener);
        failure ??= { thrown };
      }
    }
    if (failure !== undefined) throw failure.thrown;
  };

  /** An async function fits a listener's type, and its rejection is nobody else's to hear. */
  #heardLater(
    said: Promise<unknown>,
    listener: Listener,
    event: RondoEvent,
    failed: Parameters<Shell["sink"]>[1],
  ): void {
    // Of the run that it heard: another may go on by the time it fails.
    const deaf = this.#deaf;
    said.catch((thrown: unknown) => {
      deaf.add(listener);
      failed?.(event, thrown);
    });
  }
}
