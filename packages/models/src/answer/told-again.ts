// The room of text told again: deltas that begin with all of the text before them (F085).
//
// Some servers send each delta as all of the text so far; others send true deltas, and at the end, or in the middle, all of
// it once more. Models repeat themselves too, so a single delta that is like the one before proves nothing: it takes three in
// a row from the first on, or a delta that is as long as everything said before it in several others. Deltas that may be the
// beginning of such a row are held back until that is known.

import type { TextBlock } from "./blocks.ts";

/** How many deltas make a row, and how long its last one must be, in characters. */
const row = 3;
const longRow = 8;
/** How many deltas, and characters, must have been said before all of them are told once more. */
const several = 3;
const muchSaid = 32;

/** Whether `unheard` must look at a delta. A cheap test: of most texts, no delta but the second passes it. */
export const mayTellAgain = ({ pieces, length, mayGrow }: TextBlock, text: string): boolean =>
  text.length >= length ? pieces.length > 0 : mayGrow;

/**
 * Adds a delta to a text.
 * @returns what of it is to be emitted: nothing while it is not known whether it goes on from the text before
 */
export function unheard(block: TextBlock, text: string): string {
  const { pieces } = block;
  if (block.isSummed || (pieces.length >= several && block.length >= muchSaid)) {
    const said = pieces.join("");
    if (text.startsWith(said)) {
      replace(block, text);
      return text.slice(said.length);
    }
  }
  const [first = ""] = pieces;
  const last = pieces.at(-1) ?? "";
  const grows = block.mayGrow && text.length > last.length && text.startsWith(last);
  const held = grows ? "" : heldText(block);
  pieces.push(text);
  block.length += text.length;
  if (!grows) return held + text;
  if (pieces.length < row || text.length < longRow) return "";
  replace(block, text);
  return text.slice(first.length);
}

/** What was held back, which is not any longer: it was no row. */
export function heldText(block: TextBlock): string {
  if (!block.mayGrow) return "";
  block.mayGrow = false;
  return block.pieces.slice(1).join("");
}

function replace(block: TextBlock, text: string): void {
  block.pieces = [text];
  block.length = text.length;
  block.isSummed = true;
  block.mayGrow = false;
}
