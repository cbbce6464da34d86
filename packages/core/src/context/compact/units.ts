// The room of units: what of a history belongs together and is kept or taken as a whole.
//
// An answer, its results, and an answer that goes on where it paused are one unit; any other message is one of its own.
// A history cut between units has no call without its result, and no half of an answer with its reasoning.

import type { Message } from "../../message.ts";
import type { MessageList } from "../../model.ts";

/** Where each unit starts, in order. */
export function unitStarts(history: MessageList): number[] {
  const starts: number[] = [];
  let before: Message | undefined;
  for (let at = 0; at < history.length; at += 1) {
    const message = history.at(at) as Message;
    const goesOn =
      before !== undefined &&
      (message.role === "tool" || (message.role === "assistant" && before.role === "assistant"));
    if (!goesOn) starts.push(at);
    before = message;
  }
  return starts;
}
