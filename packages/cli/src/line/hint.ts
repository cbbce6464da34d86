// The room of the hint: what somebody may have meant by a word that is not known.

import { nearest } from "@rondo/core/checks";

/** ` Did you mean chat?`, to be added to a sentence; empty where nothing comes near. */
export function hintAt(word: string, known: readonly string[]): string {
  const [near] = nearest(word, known);
  return near === undefined ? "" : ` Did you mean ${near}?`;
}
