// The room of cumulative arguments: each piece repeats all of them so far, instead of adding what is new.
//
// Qianfan and some gateways send `{"a`, `{"a":1`, `{"a":1}`; some server-side parsers repeat the whole arguments after the
// pieces. A single piece does not show which it is: `{"a":` may well be continued by `{"a":1}`. So the pieces are joined
// first, and read as cumulative only if that is not JSON.

import type { Json } from "@rondo/core";
import { objectIn, parseJson } from "../json-values.ts";

/** A call's arguments from their pieces: joined, or the last piece if each contains the one before. */
export function textOfPieces(pieces: readonly string[]): string {
  const joined = pieces.join("");
  const [first = ""] = pieces;
  // The fast path: cumulative pieces repeat the first one.
  if (!joined.includes(first, first.length)) return joined;
  if (!pieces.some((piece, at) => at > 0 && piece.startsWith(first))) return joined;
  if (parseJson(joined) !== undefined) return joined;
  let told = "";
  for (const piece of pieces) told = told !== "" && piece.startsWith(told) ? piece : told + piece;
  return told !== joined && saysSomething(parseJson(told)) ? told : joined;
}

/** An empty object after a brace is more likely a slip than intended. */
function saysSomething(value: Json | undefined): boolean {
  const object = objectIn(value);
  return object !== undefined && Object.keys(object).length > 0;
}
