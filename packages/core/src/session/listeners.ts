// The room of listeners: the list of those that get a session's live events, the logger first. How they are called: `loop/driving/telling.ts`.

import type { Listener } from "../events.ts";
import { type Logger, logEvent } from "../logger.ts";
import type { ListenerList } from "../loop/driving/telling.ts";

export class Listeners implements ListenerList {
  /** Replaced and never changed, because it is walked for every event. */
  current: readonly Listener[];

  constructor(logger: Logger | undefined) {
    this.current = logger === undefined ? [] : [(event) => logEvent(logger, event)];
  }

  /** Adds a listener, unless it is in the list already. Returns a function that removes it. */
  add(listener: Listener): () => void {
    if (!this.current.includes(listener)) this.current = [...this.current, listener];
    return () => {
      this.current = this.current.filter((one) => one !== listener);
    };
  }
}
