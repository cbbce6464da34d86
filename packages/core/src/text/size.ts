// The room of sizes: how large a text is, and where it may be cut.
//
// Bytes are UTF-8. A cut never falls inside a character; a text that is cut at a position is not cut between CR and LF
// either.

const beyondAscii = /\P{ASCII}/u;

/** Length in bytes (UTF-8); a lone surrogate counts as the replacement character it becomes. */
export function byteLength(text: string): number {
  // Most texts have one byte a character, and a pattern finds that out faster than a loop.
  if (!beyondAscii.test(text)) return text.length;
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const point = text.codePointAt(at) as number;
    bytes += sizeOf(point);
    if (point > 0xffff) at += 1;
  }
  return bytes;
}

/** Whether a text has more bytes than that; most texts need not be counted for this. */
export function exceedsBytes(text: string, bytes: number): boolean {
  return text.length * 3 > bytes && (text.length > bytes || byteLength(text) > bytes);
}

/** The longest prefix that has at most so many bytes and cuts no character. */
export function prefixOfBytes(text: string, bytes: number): string {
  let left = bytes;
  let at = 0;
  while (at < text.length) {
    const point = text.codePointAt(at) as number;
    left -= sizeOf(point);
    if (left < 0) break;
    at += point > 0xffff ? 2 : 1;
  }
  return text.slice(0, at);
}

/** How many characters a text has, in code points: a surrogate pair is one. */
export function charsOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** How many lines a text has: one more than its line ends. */
export function lineCount(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** The nearest position at or before `at` where the text may be cut. */
export function cutBefore(text: string, at: number): number {
  return splits(text, at) ? at - 1 : at;
}

/** The nearest position at or after `at` where the text may be cut. */
export function cutAfter(text: string, at: number): number {
  return splits(text, at) ? at + 1 : at;
}

/** The first `length` characters, one less if that would split a surrogate pair. */
export function headOf(text: string, length: number): string {
  const head = text.slice(0, Math.max(0, length));
  return head.length < text.length && /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head;
}

/** The last `length` characters, one less if that would split a surrogate pair. */
export function tailOf(text: string, length: number): string {
  const tail = length <= 0 ? "" : text.slice(-length);
  return tail.length < text.length && /^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail;
}

function splits(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  if (before === 13 && after === 10) return true;
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

function sizeOf(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point > 0xffff ? 4 : 3;
}
