// The room of the timer: waits of any length. Node's own timers fire at once when set to more than 24 days.

import { longestWait } from "@rondo/core";

/** Acts after `ms` milliseconds, or after the longest time that a timer of Node can be set to. */
export function afterMs(ms: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.min(ms, longestWait));
}
