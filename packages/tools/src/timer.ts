// The room of the timer: a wait of any length, where Node's own ends at once when it is longer than 24 days.

import { longestWait } from "@rondo/core";

/** Acts after so many milliseconds, or after the longest time that a timer of Node's knows. */
export function afterMs(ms: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.min(ms, longestWait));
}
