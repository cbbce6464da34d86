// The room of cutting texts: into the pieces of a stream, and short enough for a line of a message.

import { cutBefore, headOf } from "@rondo/core/checks";

/**
 * The pieces of a text, by code points, so that none holds half a character. An empty text has none.
 * @param size characters a piece. Absent: the text is one
 */
export function piecesOf(text: string, size: number | undefined): string[] {
  if (text === "") return [];
  if (size === undefined) return [text];
  const characters = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(""));
  return pieces;
}

export const clipped = (text: string, limit: number): string =>
  text.length <= limit ? text : `${headOf(text, limit)}…`;

/** The same, and how long it was. */
export const clippedOf = (text: string, limit: number): string =>
  text.length <= limit ? text : `${clipped(text, limit)} (${text.length} characters)`;

/** How far two texts are the same. */
export function commonLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** The rest of a text from a position on, from the character before it if that would be cut in two. */
export const restFrom = (text: string, at: number): string => text.slice(cutBefore(text, at));

/** A file's text without the mark (U+FEFF) that some editors and shells put in front, which is no JSON. */
export const withoutMark = (text: string): string => text.replace(/^\ufeff/, "");
