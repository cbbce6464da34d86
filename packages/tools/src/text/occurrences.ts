// The room of occurrences: finds bytes in bytes, in time linear in their lengths.
//
// Node's own search is fast, except for a repetitive passage in a file that repeats it: there it compares the whole
// passage at every position, which takes minutes. So what could take long is searched with KMP, byte by byte.

/** Up to this many comparisons Node's own search takes a fraction of a second, whatever the input. */
const fewComparisons = 500_000_000;

/**
 * Where `passage` begins in `file`, ascending.
 * @param apart only places that do not overlap, taken from the front
 * @param most stop after this many
 */
export function occurrences(file: Buffer, passage: Buffer, apart: boolean, most: number): number[] {
  const search = file.length * passage.length > fewComparisons ? inOneGo : searched;
  return search(file, passage, apart, most);
}

export function searched(file: Buffer, passage: Buffer, apart: boolean, most: number): number[] {
  const found: number[] = [];
  const step = apart ? passage.length : 1;
  for (let at = file.indexOf(passage); at >= 0 && found.length < most; at = file.indexOf(passage, at + step))
    found.push(at);
  return found;
}

/** Knuth-Morris-Pratt: no byte of the file is compared twice. */
export function inOneGo(file: Buffer, passage: Buffer, apart: boolean, most: number): number[] {
  const found: number[] = [];
  const borders = bordersOf(passage);
  let matched = 0;
  for (let at = 0; at < file.length && found.length < most; at++) {
    const byte = file[at];
    while (matched > 0 && byte !== passage[matched]) matched = borders[matched - 1]!;
    if (byte === passage[matched]) matched++;
    if (matched < passage.length) continue;
    found.push(at + 1 - matched);
    matched = apart ? 0 : borders[matched - 1]!;
  }
  return found;
}

/** For each prefix of a passage: the length of its longest proper prefix that is also its suffix. */
function bordersOf(passage: Buffer): Int32Array {
  const borders = new Int32Array(passage.length);
  let matched = 0;
  for (let at = 1; at < passage.length; at++) {
    const byte = passage[at];
    while (matched > 0 && byte !== passage[matched]) matched = borders[matched - 1]!;
    if (byte === passage[matched]) matched++;
    borders[at] = matched;
  }
  return borders;
}
