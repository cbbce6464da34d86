// The room of near matches: what a misspelt word probably means.

/** Known words that are similar to a given one, the nearest first; none if all are too different. */
export function nearest(given: string, known: readonly string[], limit: number = 3): string[] {
  const bound = Math.max(1, Math.floor(given.length / 3));
  return known
    .map((word) => ({ word, far: word.startsWith(given) && given !== "" ? 0 : distance(given, word) }))
    .filter(({ far }) => far <= bound)
    .sort((one, other) => one.far - other.far)
    .slice(0, limit)
    .map(({ word }) => word);
}

/**
 * The known word that was most likely meant: equal without marks and capitals; or one of its words begins with the given
 * one, or the given one begins with it; or a similar one.
 */
function meantBy(name: string, known: readonly string[]): string | undefined {
  const given = plain(name);
  if (given === "") return nearest(name, known, 1)[0];
  const alike = (one: string): boolean => hasWord(one, given) || given.startsWith(plain(one));
  return known.find((one) => plain(one) === given) ?? known.find(alike) ?? nearest(name, known, 1)[0];
}

/** Known words that may be meant: those that contain the given one or are contained in it, but for marks and capitals, then those that are near. At most `limit`. */
export function likely(given: string, known: readonly string[], limit: number): string[] {
  const bare = plain(given);
  const inside = (one: string, other: string): boolean => one.length > 2 && other.includes(one);
  const alike = known.filter((one) => inside(bare, plain(one)) || inside(plain(one), bare));
  return [...new Set([...alike, ...nearest(given, known, limit)])].slice(0, limit);
}

/** Whether a name contains a word that begins like this: `pauseResumes` has `resumes`, but not `user`. */
const hasWord = (name: string, given: string): boolean =>
  [...name].some(
    (letter, at) => (at === 0 || /[^a-z0-9]/.test(letter)) && plain(name.slice(at)).startsWith(given),
  );

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** The word that was meant, as a question; if none is similar, all known words. */
export function hint(name: string, known: readonly string[]): string {
  const meant = meantBy(name, known);
  return meant === undefined ? `there are ${known.join(", ")}` : `did you mean ${meant}?`;
}

/** ` Did you mean chat?`, to be added to a sentence; empty if no word is similar. */
export function hintAt(word: string, known: readonly string[]): string {
  const [near] = nearest(word, known, 1);
  return near === undefined ? "" : ` Did you mean ${near}?`;
}

/** How many letters must be changed, added, left out or swapped with their neighbour. */
function distance(one: string, other: string): number {
  // Nobody mistypes a word of this length letter by letter, and the table below grows with both lengths.
  if (one.length > 64 || other.length > 64) return Number.POSITIVE_INFINITY;
  const rows = Array.from({ length: one.length + 1 }, (_, row) => [row]);
  for (let column = 1; column <= other.length; column += 1) rows[0]?.push(column);
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= one.length; row += 1)
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      const swapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      rows[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (same ? 0 : 1),
          swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  return at(one.length, other.length);
}
