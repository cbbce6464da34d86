// The room of shown text: keeps the placeholders that read_file shows from being written back.
//
// It shows invalid UTF-8 as U+FFFD, control characters as their symbols, and the rest of a long line as a count. A
// model that copies what it read would overwrite the real content with these.

import { isUtf8 } from "node:buffer";
import { Refusal } from "../reasons.ts";
import { occurrences } from "./occurrences.ts";

const clipped = /\[\.\.\. [\d,]+ more bytes? in this line\]$/m;
/** Symbols of control characters, except tab and newline, which are shown as they are. */
const symbols = /[\u2400-\u2408\u240b-\u241f\u2421]/g;

/** U+0080 to U+009F, in UTF-8. */
const latinControls = /\xc2[\x80-\x9f]/;

/** @throws Refusal when `text` contains a placeholder that read_file showed for something in `before` */
export function mustNotBeShown(text: string, before: Buffer, what: string): void {
  const raw = before.toString("latin1");
  if (hasMore(text, before, "\ufffd")) {
    if (!isUtf8(before)) throw lost(what, "\ufffd", "bytes that are no UTF-8: they");
    if (latinControls.test(raw)) throw lost(what, "\ufffd", "a control character: that");
  }
  const mark = clipped.exec(text)?.[0];
  if (mark !== undefined && !before.includes(mark))
    throw lost(what, `"${mark}"`, "the rest of a long line: it");
  // Each symbol once, or a text full of them would search the file as many times.
  for (const symbol of new Set(text.match(symbols)))
    if (controlOf(symbol).test(raw) && hasMore(text, before, symbol))
      throw lost(what, symbol, "a control character: that");
}

/** Whether not all of these characters in the text can be ones that the file really holds. */
const hasMore = (text: string, before: Buffer, char: string): boolean => {
  const count = text.split(char).length - 1;
  return count > 0 && occurrences(before, Buffer.from(char), true, count).length < count;
};

const lost = (what: string, held: string, meant: string): Refusal =>
  new Refusal(
    `${what} holds ${held}, which read_file shows for ${meant} would be lost; nothing was written. ` +
      "Change other parts of the file with edit_file",
  );

/** Matches what is shown as a symbol: a carriage return only if it does not end a line. */
function controlOf(symbol: string): RegExp {
  if (symbol === "\u240d") return /\r(?!\n)/;
  const code = symbol === "\u2421" ? 0x7f : symbol.charCodeAt(0) - 0x2400;
  return new RegExp(`\\x${code.toString(16).padStart(2, "0")}`);
}

/** Why a passage with a placeholder is not found; empty if it has none. */
export function shownHint(passage: string): string {
  const found = /[\ufffd\u2400-\u241f\u2421]/.exec(passage)?.[0] ?? clipped.exec(passage)?.[0];
  return found === undefined
    ? ""
    : `. ${found} is what read_file shows for something else: give a passage without it`;
}

/** Whether most non-ASCII content of a file is invalid UTF-8: it has a legacy encoding, and is not merely damaged. */
export function isOtherEncoding(bytes: Buffer): boolean {
  if (isUtf8(bytes)) return false;
  let balance = 0;
  for (const [char] of bytes.toString("utf8").matchAll(/[^\p{ASCII}]/gu))
    balance += char === "\ufffd" ? 1 : -1;
  return balance > 0;
}

/** @throws Refusal when `text` would put UTF-8 into a file in another encoding */
export function mustFitEncoding(text: string, before: Buffer, what: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what this is about
  if (/^[\u0000-\u007f]*$/.test(text) || !isOtherEncoding(before)) return;
  throw new Refusal(
    `the file is not in UTF-8, and ${what} has characters beyond ASCII, which would be written in UTF-8; nothing was written. ` +
      "Use plain ASCII, or convert the file first (iconv)",
  );
}
