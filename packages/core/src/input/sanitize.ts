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
 * history in one, without the model seeing it; tag characters would affect the model, without people seeing it.
 */
export function sanitized(part: ContentPart): ContentPart {
  if (part.type !== "text") return part;
  const text = withoutTags(withoutControls(part.text));
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

/**
 * The tag characters are a copy of ASCII that nothing shows and models read: instructions can be hidden in them. All of them that
 * have a meaning are in three flags: England, Scotland, Wales.
 */
const tags =
  /(\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f})|[\u{e0000}-\u{e007f}]+/gu;

/** A text without Unicode's tag characters (U+E0000 to U+E007F), except in the flags that are made with them. */
export const withoutTags = (text: string): string =>
  // Their first half is searched for, because nearly no text has one.
  text.includes("\udb40") ? text.replace(tags, (_, flag: string | undefined) => flag ?? "") : text;
