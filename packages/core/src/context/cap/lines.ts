// The room of whole lines: cuts a text after the last line that fits.

import { byteLength, exceedsBytes, prefixOfBytes } from "../../text/size.ts";

/**
 * For a line that alone exceeds the limit: `cut` keeps as much of its beginning as fits, `leave_out` leaves it out like
 * any line that does not fit.
 */
export type LongLine = "cut" | "leave_out";

/** What is kept of a text. */
export interface Kept {
  text: string;
  /** Whether something was left out. */
  cut: boolean;
}

/**
 * The first lines of a text that together have at most `maxBytes` bytes, counting one for each line end between two lines.
 * Line ends become LF. If the next line alone is longer than the limit, its beginning is kept, or nothing of it.
 */
export function firstLines(text: string, maxBytes: number, longLine: LongLine = "leave_out"): Kept {
  const whole = text.replaceAll("\r\n", "\n");
  let bytes = 0;
  let end = 0;
  // A line that is left out loses its line end too; one that is cut follows a line end.
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
    // The bytes of a line with too many characters need not be counted.
    if (line.length > maxBytes) return cutIn(start, line);
    const more = byteLength(line) + (start > 0 ? 1 : 0);
    if (bytes + more > maxBytes) return cutIn(start, line);
    bytes += more;
    end = next;
    start = next + 1;
  }
  return { text: whole, cut: false };
}

/** The note after a text that was cut. */
export function linesNote(ref: string | undefined): string {
  return `\n\n[tool output truncated${ref === undefined ? "" : `; ref=${ref}`}]`;
}
