// The room of whole lines: a text cut after the last line that fits.

import { byteLength, exceedsBytes, prefixOfBytes } from "../../text/size.ts";

/** What becomes of a line that alone is longer than all may be: as much of its beginning as there is room for stays, or it is left out like any line that does not fit. */
export type LongLine = "cut" | "leave_out";

/** What is kept of a text. */
export interface Kept {
  text: string;
  /** Whether something was left out. */
  cut: boolean;
}

/**
 * The first lines of a text, as many as have at most `maxBytes` bytes together, a line end between two counting one.
 * Lines end with LF from then on. Of a line that alone is longer than that its beginning stays, or nothing.
 */
export function firstLines(text: string, maxBytes: number, longLine: LongLine = "leave_out"): Kept {
  const whole = text.replaceAll("\r\n", "\n");
  let bytes = 0;
  let end = 0;
  // What is left out goes with its line end; what is begun is behind it.
  const cutIn = (start: number, line: string): Kept => {
    const kept =
      longLine === "cut" && exceedsBytes(line, maxBytes)
        ? prefixOfBytes(line, maxBytes - bytes - (start > 0 ? 1 : 0))
        : "";
    return { text: kept === "" ? whole.slice(0, end) : whole.slice(0, start) + kept, cut: true };
  };
  for (let start = 0; start <= whole.length; ) {
    const lineEnd = whole.indexOf("\n", start);
    const next = lineEnd < 0 ? whole.length : lineEnd;
    const line = whole.slice(start, next);
    // A line far too long need not be counted.
    if (line.length > maxBytes) return cutIn(start, line);
    const more = byteLength(line) + (start > 0 ? 1 : 0);
    if (bytes + more > maxBytes) return cutIn(start, line);
    bytes += more;
    end = next;
    start = next + 1;
  }
  return { text: whole, cut: false };
}

/** The note under a text that was cut. */
export function linesNote(ref: string | undefined): string {
  return `\n\n[tool output truncated${ref === undefined ? "" : `; ref=${ref}`}]`;
}
