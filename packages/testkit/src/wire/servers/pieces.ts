// The room of cutting as servers do that nobody tells how.

import { piecesOf } from "../../text.ts";

/** A text in about three pieces. */
export const pieces = (text: string): string[] =>
  piecesOf(text, Math.max(1, Math.ceil([...text].length / 3)));
