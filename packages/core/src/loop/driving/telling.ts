// The room of telling: each event is told to all who hear the run, and one who fails to hear ends that run.
//
// In the order they came in. One that throws, or rejects while the run is driven, hears no more of it; the others do. It ends
// that run, and no other: a listener may take its time to fail, and the next run may go on by then, or nobody drive any more.
//
// An answer may be many thousand deltas, and one function stands between what hears the model and a listener: each on the
// way is compiled, and once more with all that it calls (see `bench/RESULTS.md`).

import { messageOf } from "../../errors.ts";
import type { Listener, RondoEvent } from "../../events.ts";
import { redactEvent } from "../../redact.ts";
import type { Fact } from "../records.ts";

/** Who hears, at the moment. */
export interface ListenerList {
  readonly current: readonly Listener[];
}

/** What this needs of who drives. */
interface Teller {
  /** Whether anybody drives. */
  isRunning(): boolean;
  post(fact: Fact): void;
}

/** How one run is heard. */
interface Hearing {
  /** Those that failed in it, once any has. */
  deaf: Set<Listener> | undefined;
  /** It ends over one of them. */
  ends: boolean;
}

export class Telling {
  readonly tell: (event: RondoEvent) => void;
  readonly #listeners: ListenerList;
  readonly #by: Teller;
  #hearing: Hearing = { deaf: undefined, ends: false };

  /** @param redact takes secrets out of what is told */
  constructor(listeners: ListenerList, by: Teller, redact: ((fact: Fact) => Fact) | undefined) {
    this.#listeners = listeners;
    this.#by = by;
    this.tell = redact === undefined ? this.#tellAll : (event) => this.#tellAll(redactEvent(event, redact));
  }

  /** Another run begins: all hear again. */
  anew(): void {
    this.#hearing = { deaf: undefined, ends: false };
  }

  readonly #tellAll = (event: RondoEvent): void => {
    const listeners = this.#listeners.current;
    const { deaf } = this.#hearing;
    let failure: { thrown: unknown } | undefined;
    for (let at = 0; at < listeners.length; at += 1) {
      const listener = listeners[at] as Listener;
      if (deaf?.has(listener)) continue;
      try {
        const said: unknown = listener(event);
        if (said instanceof Promise) this.#heardLater(said, listener, event);
      } catch (thrown) {
        this.#fails(this.#hearing, listener);
        failure ??= { thrown };
      }
    }
    if (failure !== undefined) this.#endOver(event, failure.thrown);
  };

  /** An async function fits a listener's type, and its rejection is nobody else's to hear. */
  #heardLater(said: Promise<unknown>, listener: Listener, event: RondoEvent): void {
    const hearing = this.#hearing;
    said.catch((thrown: unknown) => {
      this.#fails(hearing, listener);
      if (this.#by.isRunning() && this.#hearing === hearing) this.#endOver(event, thrown);
    });
  }

  #fails(hearing: Hearing, listener: Listener): void {
    hearing.deaf ??= new Set();
    hearing.deaf.add(listener);
  }

  /** Ends the run over an event that could not be told; once, for its end is told as well. */
  #endOver(event: RondoEvent, thrown: unknown): void {
    if (this.#hearing.ends) return;
    this.#hearing.ends = true;
    const message = `a listener failed on ${event.type}: ${messageOf(thrown)}`;
    this.#by.post({
      type: "abort_asked",
      reason: message,
      error: { kind: "internal", message, retryable: false },
      rule: "listener",
    });
  }
}
