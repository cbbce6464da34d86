// The room of edits: a change to the history, as kept ranges and new messages.
//
// Hooks and compactions record their changes in this one form, which is only as large as the change.

import type { HistoryEdit } from "../loop/records.ts";
import type { Message } from "../message.ts";
import type { MessageList } from "../model.ts";

/**
 * The edit that makes a history of these places, in order: indices of the old one, and new messages. Consecutive indices
 * become one range.
 */
export function editOf(places: Iterable<number | Message>): HistoryEdit {
  const edit: HistoryEdit = [];
  for (const place of places) {
    const last = edit.at(-1);
    if (typeof place !== "number") edit.push({ put: place });
    else if (last !== undefined && "keep" in last && last.keep[1] === place) last.keep[1] = place + 1;
    else edit.push({ keep: [place, place + 1] });
  }
  return edit;
}

/** The history after an edit. */
export function applyEdit(history: MessageList, edit: HistoryEdit): Message[] {
  return edit.flatMap((one) => {
    if ("put" in one) return [one.put];
    const kept: Message[] = [];
    const [from, to] = one.keep;
    for (let at = from; at < Math.min(to, history.length); at += 1) kept.push(history.at(at) as Message);
    return kept;
  });
}
