// The room of listening: whether any delta of an answer was emitted.

import type { ModelIo } from "@rondo/core";

/**
 * A copy of `io`, and whether any delta was emitted through it. After the first one nothing is intercepted any more:
 * thousands may follow.
 */
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
