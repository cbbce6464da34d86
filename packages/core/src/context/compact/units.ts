// The room of units: messages of a history that belong together and are kept or removed as a whole.
//
// An answer, its results, and the answers that continue it after a pause are one unit; any other message is a unit by
// itself. A history that is cut between units has no call without its result, and no half answer with its reasoning.

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
