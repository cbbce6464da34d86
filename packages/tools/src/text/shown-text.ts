// The room of what was shown: read_file shows some things as what they are not, and these must not be written back.
//
// Bytes that are no UTF-8 are shown as U+FFFD, control characters as their symbols, the rest of a long line as a count. A
// model that gives back what it read would put these in the place of what was there.

import { isUtf8 } from "node:buffer";
import { Refusal } from "../reasons.ts";

const clipped = /\[\.\.\. [\d,]+ more bytes? in this line\]$/m;
/** Not those of tab and newline, which are shown as they are. */
const symbols = /[\u2400-\u2408\u240b-\u241f\u2421]/g;

/** @throws Refusal when `text` holds what read_file showed in the place of something in `before` */
export function mustNotBeShown(text: string, before: Buffer, what: string): void {
  if (text.includes("\ufffd") && !isUtf8(before) && !before.includes("\ufffd"))
    throw lost(what, "\ufffd", "bytes that are no UTF-8: they");
  const mark = clipped.exec(text)?.[0];
  if (mark !== undefined && !before.includes(mark))
    throw lost(what, `"${mark}"`, "the rest of a long line: it");
  const raw = before.toString("latin1");
  // Each of them once, or a text full of them would have the file looked through as often.
  for (const symbol of new Set(text.match(symbols)))
    if (controlOf(symbol).test(raw) && !before.includes(symbol))
      throw lost(what, symbol, "a control character: that");
}

const lost = (what: string, held: string, meant: string): Refusal =>
  new Refusal(
    `${what} holds ${held}, which read_file shows for ${meant} would be lost; nothing was written. ` +
      "Change other parts of the file with edit_file",
  );

/** What is shown as a symbol: a carriage return only where no line ends with it. */
function controlOf(symbol: string): RegExp {
  if (symbol === "\u240d") return /\r(?!\n|$)/;
  const code = symbol === "\u2421" ? 0x7f : symbol.charCodeAt(0) - 0x2400;
  return new RegExp(`\\x${code.toString(16).padStart(2, "0")}`);
}

/** Why a passage with such a thing in it is not found; empty where there is none. */
export function shownHint(passage: string): string {
  const found = /[\ufffd\u2400-\u241f\u2421]/.exec(passage)?.[0] ?? clipped.exec(passage)?.[0];
  return found === undefined
    ? ""
    : `. ${found} is what read_file shows for something else: give a passage without it`;
}

/** Whether most of what is not ASCII in a file is no UTF-8: it is in an older encoding, and not merely damaged. */
function isOtherEncoding(bytes: Buffer): boolean {
  if (isUtf8(bytes)) return false;
  let balance = 0;
  for (const [char] of bytes.toString("utf8").matchAll(/[^\p{ASCII}]/gu))
    balance += char === "\ufffd" ? 1 : -1;
  return balance > 0;
}

/** @throws Refusal when `text` would bring UTF-8 into a file in another encoding */
export function mustFitEncoding(text: string, before: Buffer, what: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what this is about
  if (/^[\u0000-\u007f]*$/.test(text) || !isOtherEncoding(before)) return;
  throw new Refusal(
    `the file is not in UTF-8, and ${what} has characters beyond ASCII, which would be written in UTF-8; nothing was written. ` +
      "Use plain ASCII, or convert the file first (iconv)",
  );
}
