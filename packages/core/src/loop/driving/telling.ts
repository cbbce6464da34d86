// The room of telling: each event goes to all listeners of the run, and a listener that fails ends that run.
//
// Listeners are called in the order they subscribed. One that throws, or rejects during the run, gets no more of its
// events; the others do. It ends that run only: an asynchronous one may reject during the next run, or after all.
//
// An answer may be many thousand deltas, so there is only one function between the model call and a listener: each further
// one would have to be compiled, and again with everything it calls (see `bench/RESULTS.md`).

import { messageOf } from "../../errors.ts";
import type { Listener, RondoEvent } from "../../events.ts";
import { redactEvent } from "../../redact.ts";
import type { Fact } from "../records.ts";

/** The listeners at the moment. */
export interface ListenerList {
  readonly current: readonly Listener[];
}

/** What this room needs of the driver. */
interface Teller {
  /** Whether the session is being driven. */
  isRunning(): boolean;
  post(fact: Fact): void;
}

/** The state of telling one run. */
interface ToldRun {
  /** The listeners that failed in it. Absent: none has. */
  deaf: Set<Listener> | undefined;
  /** Set once the run is ended because one failed. */
  ends: boolean;
}

export class Telling {
  readonly tell: (event: RondoEvent) => void;
  readonly #listeners: ListenerList;
  readonly #by: Teller;
  #told: ToldRun = { deaf: undefined, ends: false };

  /** @param redact removes secrets from the error that ends the run */
  constructor(listeners: ListenerList, by: Teller, redact: ((fact: Fact) => Fact) | undefined) {
    this.#listeners = listeners;
    this.#by = by;
    this.tell = redact === undefined ? this.#tellAll : (event) => this.#tellAll(redactEvent(event, redact));
  }

  /** Another run begins: all listeners get events again. */
  anew(): void {
    this.#told = { deaf: undefined, ends: false };
  }

  readonly #tellAll = (event: RondoEvent): void => {
    const listeners = this.#listeners.current;
    const { deaf } = this.#told;
    let failure: { thrown: unknown } | undefined;
    for (let at = 0; at < listeners.length; at += 1) {
      const listener = listeners[at] as Listener;
      if (deaf?.has(listener)) continue;
      try {
        const said: unknown = listener(event);
        if (said instanceof Promise) this.#heardLater(said, listener, event);
      } catch (thrown) {
        this.#fails(this.#told, listener);
        failure ??= { thrown };
      }
    }
    if (failure !== undefined) this.#endOver(event, failure.thrown);
  };

  /** An async function fits a listener's type; its rejection is handled here, and nowhere else. */
  #heardLater(said: Promise<unknown>, listener: Listener, event: RondoEvent): void {
    const told = this.#told;
    said.catch((thrown: unknown) => {
      this.#fails(told, listener);
      if (this.#by.isRunning() && this.#told === told) this.#endOver(event, thrown);
    });
  }

  #fails(told: ToldRun, listener: Listener): void {
    told.deaf ??= new Set();
    told.deaf.add(listener);
  }

  /** Ends the run because a listener failed; once only, because the end is an event as well. */
  #endOver(event: RondoEvent, thrown: unknown): void {
    if (this.#told.ends) return;
    this.#told.ends = true;
    const message = `a listener failed on ${event.type}: ${messageOf(thrown)}`;
    this.#by.post({
      type: "abort_asked",
      reason: message,
      error: { kind: "internal", message, retryable: false },
      rule: "listener",
    });
  }
}
