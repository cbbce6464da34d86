// The room of cumulative arguments, told again with every piece: all of them so far, where only what is new was due.
//
// Qianfan and gateways send `{"a`, `{"a":1`, `{"a":1}`; some parsers of servers end what they told in pieces with the whole
// once more. Whether a piece goes on or begins anew is not to be seen in it: `{"a":` may well go on with `{"a":1}`. So the
// pieces are joined, and only where that is no JSON they are read the other way.

import type { Json } from "@rondo/core";
import { objectIn, parseJson } from "../json-values.ts";

/** A call's arguments as their pieces tell them: joined, or the last one where each held what was before it. */
export function textOfPieces(pieces: readonly string[]): string {
  const joined = pieces.join("");
  const [first = ""] = pieces;
  // Most arguments are not looked at twice: what was told again begins as the first piece does.
  if (!joined.includes(first, first.length)) return joined;
  if (!pieces.some((piece, at) => at > 0 && piece.startsWith(first))) return joined;
  if (parseJson(joined) !== undefined) return joined;
  let told = "";
  for (const piece of pieces) told = told !== "" && piece.startsWith(told) ? piece : told + piece;
  return told !== joined && saysSomething(parseJson(told)) ? told : joined;
}

/** An empty object behind a brace is rather a slip than what was meant. */
function saysSomething(value: Json | undefined): boolean {
  const object = objectIn(value);
  return object !== undefined && Object.keys(object).length > 0;
}
