// The room of nearness: a refusal names what it refuses and why, not always in one phrase, but close together.

/** The most characters between the refused thing and the reason. */
const nearest = 120;

/**
 * Whether a thing is named with a reason close to it.
 * @param things with the flag `g`
 */
export function isNear(things: RegExp, reasons: RegExp, words: string): boolean {
  for (const { 0: found, index } of words.matchAll(things))
    if (reasons.test(words.slice(Math.max(0, index - nearest), index + found.length + nearest))) return true;
  return false;
}
