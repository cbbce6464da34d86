// The room of the cap: no single result may fill a window.
//
// Text is cut when it arrives, at the end of a line where there is one, never inside a character, and says so with
// its numbers. Files are left as they are: their size is another matter.

import type { CallResult } from "../loop/records.ts";
import type { ContentPart } from "../message.ts";

/** The result with at most `maxBytes` bytes (UTF-8) of text in it, the note on what was cut among them; the same result when it fits. */
export function capResult(result: CallResult, maxBytes: number): CallResult {
  let left = maxBytes;
  let cut = false;
  const content = result.content.flatMap((part): ContentPart[] => {
    if (part.type !== "text") return [part];
    if (left === 0) return [];
    const text = capText(part.text, left);
    left = Math.max(0, left - byteLength(text));
    if (text === part.text) return [part];
    cut = true;
    left = 0;
    return [{ ...part, text }];
  });
  return cut ? { ...result, content } : result;
}

/** A text with at most `maxBytes` bytes (UTF-8), whole lines where it has lines, and a note on what was cut. */
export function capText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const total = byteLength(text);
  if (total <= maxBytes) return text;
  const noteFor = (kept: number): string =>
    `\n\n[tool output truncated: the first ${kept} of ${total} bytes]`;
  const room = maxBytes - noteFor(total).length;
  const end = prefixEnd(text, room);
  const lineEnd = text.lastIndexOf("\n", end);
  const kept = text.slice(0, lineEnd > 0 ? lineEnd : end);
  return `${kept}${noteFor(byteLength(kept))}`;
}

/** Where the longest prefix ends that has at most so many bytes and cuts no character. */
function prefixEnd(text: string, bytes: number): number {
  let left = bytes;
  let at = 0;
  while (at < text.length) {
    const point = text.codePointAt(at) as number;
    const size = sizeOf(point);
    if (size > left) return at;
    left -= size;
    at += point > 0xffff ? 2 : 1;
  }
  return at;
}

/** Length in bytes (UTF-8); half a pair counts as the replacement character it becomes. */
function byteLength(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const point = text.codePointAt(at) as number;
    bytes += sizeOf(point);
    if (point > 0xffff) at += 1;
  }
  return bytes;
}

function sizeOf(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point > 0xffff ? 4 : 3;
}
