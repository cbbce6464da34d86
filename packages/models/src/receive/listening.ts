// The room of listening: whether a model has said anything, which is known from the first delta on.

import type { ModelIo } from "@rondo/core";

/** The same `io`, and whether any delta was emitted through it. Once one was, nothing is in between any more: thousands may follow. */
export function listening(io: ModelIo): { io: ModelIo; anything: () => boolean } {
  let anything = false;
  const heard: ModelIo = {
    ...io,
    emit(event) {
      if (event.type !== "progress" && event.type !== "warning") {
        anything = true;
        heard.emit = io.emit.bind(io);
      }
      io.emit(event);
    },
  };
  return { io: heard, anything: () => anything };
}
