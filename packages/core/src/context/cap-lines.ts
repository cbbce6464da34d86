// The room of whole lines: a text cut after the last line that fits.

import { byteLength } from "./text-size.ts";

/** What is kept of a text. */
export interface Kept {
  text: string;
  /** Whether something was left out. */
  cut: boolean;
}

/**
 * The first lines of a text, as many as have at most `maxBytes` bytes together, a line end between two counting one.
 * Lines end with LF from then on. A first line that is too long leaves nothing.
 */
export function firstLines(text: string, maxBytes: number): Kept {
  const whole = text.replaceAll("\r\n", "\n");
  let bytes = 0;
  let end = 0;
  for (let start = 0; start <= whole.length; ) {
    const lineEnd = whole.indexOf("\n", start);
    const next = lineEnd < 0 ? whole.length : lineEnd;
    // A line far too long need not be counted.
    if (next - start > maxBytes) return { text: whole.slice(0, end), cut: true };
    bytes += byteLength(whole.slice(start, next)) + (start > 0 ? 1 : 0);
    if (bytes > maxBytes) return { text: whole.slice(0, end), cut: true };
    end = next;
    start = next + 1;
  }
  return { text: whole, cut: false };
}

/** The note under a text that was cut. */
export function linesNote(ref: string | undefined): string {
  return `\n\n[tool output truncated${ref === undefined ? "" : `; ref=${ref}`}]`;
}
