// The room of graphemes: counts and cuts what a reader sees as one character.

let segmenter: Intl.Segmenter | undefined;

/** A text with more code units is counted in code points, because segmenting it would take seconds. */
const most = 1_000_000;

// Within ASCII only CR LF is more than one code unit, and a line has none.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII but CR.
const plain = /^[\x00-\x0c\x0e-\x7f]*$/;

/** How many graphemes a text has. */
export function graphemeCount(text: string): number {
  if (plain.test(text)) return text.length;
  let count = 0;
  for (const _one of pieces(text)) count += 1;
  return count;
}

/** `limit` graphemes of a text, from the one at `offset` on. */
export function graphemes(text: string, offset: number, limit: number): string {
  if (plain.test(text)) return text.slice(offset, offset + limit);
  let at = 0;
  let start = text.length;
  let index = 0;
  for (const piece of pieces(text)) {
    if (index === offset) start = at;
    if (index === offset + limit) return text.slice(start, at);
    at += piece.length;
    index += 1;
  }
  return text.slice(start);
}

function* pieces(text: string): Iterable<string> {
  if (text.length > most) {
    yield* text;
    return;
  }
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) yield segment;
}
