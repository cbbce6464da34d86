// The room of window usage: what fills the context window, as lines.

import type { ContextAccount } from "@rondo/core";
import { counted } from "./usage.ts";

/** What the next request consists of: the total, then each source that contributes. */
export function contextLines({
  tokens,
  window,
  left,
  counted: known,
  bySource,
  messages,
}: ContextAccount): string[] {
  const share =
    window === undefined
      ? ""
      : ` of ${window.toLocaleString("en-US")} (${Math.round((100 * tokens) / window)} %)`;
  const rest = left === undefined ? "; the model's window is not known" : `, ${counted(left, "token")} left`;
  const by = known === 0 ? "all estimated" : `${known.toLocaleString("en-US")} counted by the provider`;
  const rows = Object.entries(bySource)
    .filter(([, size]) => size > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([source, size]) => `  ${source.padEnd(10)} ${size.toLocaleString("en-US").padStart(9)}`);
  return [
    `${counted(tokens, "token")}${share}${rest}; ${by}; ${counted(messages.length, "message")}`,
    ...rows,
  ];
}
