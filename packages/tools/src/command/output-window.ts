// The room of the output window: keeps the beginning and the end of any amount of output.
//
// Memory is bounded: the first bytes are kept, and a sliding window over the last ones.

import { cleanOutput } from "@rondo/core";
import { counted } from "../reasons.ts";
import { headLength, looksLikeText } from "../text/text-file.ts";

export class OutputWindow {
  readonly #maxHead: number;
  readonly #maxTail: number;
  #head: Buffer[] = [];
  #headSize = 0;
  #tail: Buffer[] = [];
  #tailSize = 0;
  /** Bytes written in total. */
  total = 0;

  /** @param maxBytes kept of the output, a third of them from its beginning */
  constructor(maxBytes: number) {
    this.#maxTail = Math.ceil((maxBytes * 2) / 3);
    this.#maxHead = maxBytes - this.#maxTail;
  }

  push(bytes: Buffer): void {
    this.total += bytes.length;
    let rest = bytes;
    if (this.#headSize < this.#maxHead) {
      const part = rest.subarray(0, this.#maxHead - this.#headSize);
      this.#head.push(part);
      this.#headSize += part.length;
      rest = rest.subarray(part.length);
    }
    if (rest.length === 0) return;
    // Copied: a slice would keep its whole chunk in memory.
    this.#tail.push(Buffer.from(rest.subarray(-this.#maxTail)));
    this.#tailSize += this.#tail.at(-1)!.length;
    while (this.#tailSize - this.#tail[0]!.length >= this.#maxTail)
      this.#tailSize -= this.#tail.shift()!.length;
    if (this.#tail.length > 512) this.#tail = [Buffer.concat(this.#tail)];
  }

  /** The last line of the output, for progress. */
  lastLine(): string {
    const bytes = this.#tail.at(-1) ?? this.#head.at(-1);
    if (bytes === undefined) return "";
    const end = wholeStart(wholeEnd(bytes.subarray(-2000)));
    const lines = cleanOutput(end.toString("utf8")).split("\n");
    return lines.findLast((line) => line.trim() !== "")?.trim() ?? "";
  }

  /** The output as plain text, cut between lines if possible, and never inside a character. */
  text(): string {
    const head = Buffer.concat(this.#head);
    const all = Buffer.concat(this.#tail);
    if (this.total <= this.#maxHead + this.#maxTail) {
      const whole = Buffer.concat([head, all]);
      return isBinary(whole) ? binaryNote(this.total, whole) : plainText(whole);
    }
    const tail = all.subarray(-this.#maxTail);
    const first = cutEnd(head);
    const last = cutStart(tail);
    if (isBinary(first) || isBinary(last)) return binaryNote(this.total, first);
    const left = this.total - first.length - last.length;
    const start = plainText(first);
    const end = plainText(last);
    return `${start}${start.endsWith("\n") ? "" : "\n"}[... ${counted(left, "byte")} left out ...]\n${end}`;
  }
}

/** NUL as a separator (`git ls-files -z`, `find -print0`) is made visible: names would run together without it. */
const plainText = (bytes: Buffer): string => cleanOutput(bytes.toString("utf8").replaceAll("\0", "\u2400"));

const binaryNote = (count: number, bytes: Buffer): string =>
  looksLikeText(bytes.subarray(0, headLength))
    ? `[output in another encoding than UTF-8, ${counted(count, "byte")}, not shown: a filter such as iconv -f GBK -t UTF-8 converts it]`
    : `[binary output, ${counted(count, "byte")}, not shown]`;

/** So few invalid bytes are a letter or two of an older encoding, however short the output. */
const maxOdd = 4;

/** More than a tenth of it is NUL or invalid UTF-8. */
function isBinary(bytes: Buffer): boolean {
  if (bytes.length === 0) return false;
  const sample = bytes.subarray(0, 65_536);
  let odd = 0;
  for (const char of sample.toString("utf8")) if (char === "\0" || char === "\ufffd") odd++;
  return odd > maxOdd && odd * 10 > sample.length;
}

/** Drops the partial line at the end, or, if the line is too long, the partial character. */
function cutEnd(bytes: Buffer): Buffer {
  const newline = bytes.lastIndexOf(10);
  const cut = newline >= 0 && bytes.length - newline < bytes.length / 2;
  return cut ? bytes.subarray(0, newline + 1) : wholeEnd(bytes);
}

function cutStart(bytes: Buffer): Buffer {
  const newline = bytes.indexOf(10);
  return newline >= 0 && newline < bytes.length / 2 ? bytes.subarray(newline + 1) : wholeStart(bytes);
}

/** Drops a partial character at the end. */
function wholeEnd(bytes: Buffer): Buffer {
  let end = bytes.length;
  let start = end;
  while (start > 0 && end - start < 4 && (bytes[start - 1]! & 0xc0) === 0x80) start--;
  if (start > 0) {
    const lead = bytes[start - 1]!;
    const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (length > 1 && end - start + 1 < length) end = start - 1;
  }
  return bytes.subarray(0, end);
}

/** Drops a partial character at the start. */
function wholeStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 4 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
