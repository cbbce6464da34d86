// The room of occurrences: where some bytes stand in others, in time that grows with their lengths and not with the product.
//
// Node's own search is fast, but for a passage that repeats itself in a file that repeats it: there it compares all of the
// passage at every place, which takes minutes. So what could take long is gone through once, byte by byte.

/** Up to so many comparisons Node's own search takes a part of a second, whatever it is given. */
const fewComparisons = 500_000_000;

/**
 * Where `passage` begins in `file`, ascending.
 * @param apart only places that do not overlap, the first of them first
 * @param most so many are looked for
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

/** As Knuth, Morris and Pratt do it: what was compared is not compared again. */
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

/** For each beginning of a passage: how long a shorter beginning it ends with. */
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
