// The room of listeners: who hears a session's live events, the logger first. How they are told: `loop/driving/telling.ts`.

import type { Listener } from "../events.ts";
import { type Logger, logEvent } from "../logger.ts";
import type { ListenerList } from "../loop/driving/telling.ts";

export class Listeners implements ListenerList {
  /** Replaced when it changes: it is walked for every event. */
  current: readonly Listener[];

  constructor(logger: Logger | undefined) {
    this.current = logger === undefined ? [] : [(event) => logEvent(logger, event)];
  }

  /** Hears from now on; who hears already does not hear twice. Returns how to stop. */
  add(listener: Listener): () => void {
    if (!this.current.includes(listener)) this.current = [...this.current, listener];
    return () => {
      this.current = this.current.filter((one) => one !== listener);
    };
  }
}
