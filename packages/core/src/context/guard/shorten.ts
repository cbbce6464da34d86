// The room of shortening: makes room in the history by cutting the middle out of results, the newest first.
//
// It is used before a request that would not fit. The newest results made it too large, and the provider has not cached them
// yet. Head and tail stay: the tail says how it ended, and has the note with the ref of the full text.

import type { Message, ToolMessage } from "../../message.ts";
import type { MessageList } from "../../model.ts";
import { headOf, tailOf } from "../../text/size.ts";
import { charEstimator } from "../estimate.ts";
import {
  grouped,
  many,
  type Replacement,
  resultText,
  type Staged,
  sumOf,
  withEdits,
  withText,
} from "../stage.ts";

/** How many characters every result keeps at least. */
const kept = 2_000;

/** How many characters `shortenResults` could free. */
export function reducibleChars(messages: MessageList): number {
  return sumOf(messages, reducible);
}

/** A result slightly longer than what it keeps would not get shorter, because of the note. Results with files are left alone. */
function reducible(message: Message): number {
  if (message?.role !== "tool" || typeof message.content === "string") return 0;
  if (message.content.some((part) => part?.type !== "text")) return 0;
  return Math.max(0, resultText(message).length - kept - 100);
}

/**
 * The messages with so many characters fewer in their results, as far as possible: at least 2,000 of each result stay. The
 * result is meant to be stored.
 */
export function shortenResults(messages: MessageList, chars: number): Staged {
  const edits: Replacement[] = [];
  let left = chars;
  for (let at = messages.length - 1; at >= 0 && left > 0; at -= 1) {
    const message = messages.at(at) as Message;
    const most = reducible(message);
    if (most === 0) continue;
    const shorter = shortened(message as ToolMessage, Math.min(most, left));
    left -= resultText(message).length - resultText(shorter).length;
    edits.push({ at, message: shorter });
  }
  if (edits.length === 0) return { messages, edits };
  edits.reverse();
  const now = withEdits(messages, edits);
  const before = sumOf(messages, estimator.message);
  const after = sumOf(now, estimator.message);
  const note = `${many(edits.length, "result")} shortened by ${grouped(chars - left)} characters to make room for ${grouped(chars)}`;
  return { messages: now, edits, note: { stage: "guard", before, after, note } };
}

const estimator = charEstimator();

/** Cuts at least so many characters out of the middle, and up to the note's length more. */
function shortened(result: ToolMessage, fewer: number): ToolMessage {
  const text = resultText(result);
  const noteFor = (gone: number): string => `\n[... ${gone} characters left out ...]\n`;
  const room = text.length - fewer - noteFor(text.length).length;
  const tail = tailOf(text, Math.floor(room * 0.4));
  const head = headOf(text, room - tail.length);
  return withText(result, head + noteFor(text.length - head.length - tail.length) + tail);
}
