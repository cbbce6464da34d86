// The room of line ranges: which lines of a file are meant.

import type { Range } from "./goal.ts";
import { numberOf, ordinalOf } from "./lexicon.ts";
import type { Sheet } from "./sheet.ts";

/** A range that begins at a token, and the last token that belongs to it. */
interface ReadRange {
  range: Range;
  to: number;
}

type Reader = (sheet: Sheet, at: number) => ReadRange | undefined;

/** Claims the first range of a clause. */
export function claimRange(sheet: Sheet): void {
  for (let at = 0; at < sheet.tokens.length; at++) {
    const read = edgeLines(sheet, at) ?? nthLine(sheet, at) ?? numberedLines(sheet, at);
    if (read === undefined) continue;
    sheet.range = read.range;
    for (let token = at; token <= read.to; token++) sheet.claim(token, "RANGE");
    return;
  }
}

/** How many lines "a few" are. */
const few = 5;

/** "first 3 lines", "the last line". */
const edgeLines: Reader = (sheet, at) => {
  const edge = sheet.lower(at);
  if (!/^(first|last|top|bottom|final|initial|opening|closing)$/.test(edge)) return undefined;
  const edgeRange = (count: number): Range =>
    /^(last|bottom|final|closing)$/.test(edge) ? { last: count } : { from: 1, to: count };
  const amount = sheet.lower(at + 1);
  const count = numberOf(amount) ?? (/^(few|couple)$/.test(amount) ? few : undefined);
  const isLines = /^(line|row)$/.test(sheet.stem(at + 2));
  if (count !== undefined && (isLines || sheet.lower(at + 2) === "of"))
    return { range: edgeRange(count), to: isLines ? at + 2 : at + 1 };
  return amount === "line" ? { range: edgeRange(1), to: at + 1 } : undefined;
};

/** "the third line". */
const nthLine: Reader = (sheet, at) => {
  const line = ordinalOf(sheet.lower(at));
  if (line === undefined || sheet.lower(at + 1) !== "line") return undefined;
  return { range: { from: line, to: line }, to: at + 1 };
};

/** "lines 5-9", "lines 5 to 9", "line 5", "line number 5". */
const numberedLines: Reader = (sheet, at) => {
  if (!/^lines?$/.test(sheet.lower(at))) return undefined;
  const first = /^(number|no|#)$/.test(sheet.lower(at + 1)) ? at + 2 : at + 1;
  const span = /^(\d+)(?:-|–|\.\.)(\d+)$/.exec(sheet.lower(first));
  if (span !== null) return { range: { from: Number(span[1]), to: Number(span[2]) }, to: first };
  const from = numberOf(sheet.lower(first));
  if (from === undefined) return undefined;
  const to = /^(to|through|until|till|and|-|–|up)$/.test(sheet.lower(first + 1))
    ? numberOf(sheet.lower(first + 2))
    : undefined;
  return to === undefined ? { range: { from, to: from }, to: first } : { range: { from, to }, to: first + 2 };
};
