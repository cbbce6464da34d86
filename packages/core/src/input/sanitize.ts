// The room of sanitizing results: what must not get into a history with a tool's text, wherever the result comes from.

import type { ContentPart, ToolMessage } from "../message.ts";
import { cleanOutput } from "./terminal-text.ts";

/** A result from a foreign history, sanitized like one of our own. The same object if nothing changes. */
export function sanitizedResult(message: ToolMessage): ToolMessage {
  const content = message.content.map(sanitized);
  return content.every((part, at) => part === message.content[at]) ? message : { ...message, content };
}

/**
 * Half a surrogate pair makes a whole request invalid. Control sequences of terminals would affect people who read the
 * history in one, without the model seeing it.
 */
export function sanitized(part: ContentPart): ContentPart {
  if (part.type !== "text") return part;
  const text = withoutControls(part.text);
  if (text === part.text && text.isWellFormed()) return part;
  return { ...part, text: text.toWellFormed() };
}

/**
 * Control characters except newline and tab; a line end CR LF counts as LF. A pattern, not a loop: in a new process, where
 * loops are still interpreted, it takes a sixth of the time.
 */
const controls = /\p{Cc}(?<![\t\n\r])|\r(?!\n)/u;

/** A text without a newline, in which carriage returns end the lines: nothing in it was overwritten. */
const returned = /^(?:\P{Cc}|[\t\r])*$/u;

/** A text as a terminal would show it, without control sequences. */
export const withoutControls = (text: string): string => (controls.test(text) ? plain(text) : text);

const plain = (text: string): string =>
  returned.test(text) ? text.replaceAll("\r", "\n") : cleanOutput(text);
