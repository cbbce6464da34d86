// The room of sanitizing results: what a tool's text may not carry into a history, whoever brings it.

import type { ContentPart, ToolMessage } from "../message.ts";
import { cleanOutput } from "./terminal-text.ts";

/** A result that came from elsewhere, with a history, as one of ours would stand there. The same object where it does already. */
export function sanitizedResult(message: ToolMessage): ToolMessage {
  const content = message.content.map(sanitized);
  return content.every((part, at) => part === message.content[at]) ? message : { ...message, content };
}

/** Half a surrogate pair makes a whole request invalid; a terminal's control sequences speak to terminals, and to readers of the history, behind the model's back. */
export function sanitized(part: ContentPart): ContentPart {
  if (part.type !== "text") return part;
  const text = controls.test(part.text) ? plain(part.text) : part.text;
  if (text === part.text && text.isWellFormed()) return part;
  return { ...part, text: text.toWellFormed() };
}

/**
 * Control characters other than newline and tab; a line that ends with CR LF is as good as one that ends with LF. A
 * pattern, not a loop: in a young process, whose loops are still interpreted, it costs a sixth.
 */
const controls = /\p{Cc}(?<![\t\n\r])|\r(?!\n)/u;

/** A text without a newline, whose lines a carriage return ends: nothing in it was written over. */
const returned = /^(?:\P{Cc}|[\t\r])*$/u;

const plain = (text: string): string =>
  returned.test(text) ? text.replaceAll("\r", "\n") : cleanOutput(text);
