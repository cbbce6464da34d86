// The room of telling: each event is told to who hears the run, and who fails to hear one ends the run.
//
// That run, and no other: a listener may take its time to fail, and the next run may go on by then, or nobody drive any more.

import { messageOf } from "../../errors.ts";
import type { RondoEvent } from "../../events.ts";
import type { Fact } from "../records.ts";
import type { Shell } from "./shell.ts";

/** What this needs of who drives. */
export interface Teller {
  sink: Shell["sink"];
  /** Whether anybody drives. */
  isRunning(): boolean;
  post(fact: Fact): void;
}

/** How one run is heard. */
interface Run {
  failed: boolean;
  later(event: RondoEvent, thrown: unknown): void;
}

export class Telling {
  readonly #by: Teller;
  #run: Run = this.#another();

  constructor(by: Teller) {
    this.#by = by;
  }

  readonly tell = (event: RondoEvent): void => {
    try {
      this.#by.sink(event, this.#run.later);
    } catch (thrown) {
      this.#endOver(event, thrown);
    }
  };

  /** Another run begins. */
  anew(): void {
    this.#run = this.#another();
  }

  #another(): Run {
    const run: Run = {
      failed: false,
      later: (event, thrown) => {
        if (this.#by.isRunning() && this.#run === run) this.#endOver(event, thrown);
      },
    };
    return run;
  }

  /** Ends the run over an event that could not be told; once, for its end is told as well. */
  #endOver(event: RondoEvent, thrown: unknown): void {
    if (this.#run.failed) return;
    this.#run.failed = true;
    const message = `a listener failed on ${event.type}: ${messageOf(thrown)}`;
    this.#by.post({
      type: "abort_asked",
      reason: message,
      error: { kind: "internal", message, retryable: false },
      rule: "listener",
    });
  }
}
