// The room of refusals that are about the reasoning in a history: the one kind that goes away when it is left out.
//
// A signature may be of another key or another day, a field may be unknown to this server, and no row of a table knows
// all of them. Only codecs ask here, of the body of a refusal; a reasoning that is missing ("must be passed back") is
// another complaint, which leaving out more would make worse.

import { RondoError } from "@rondo/core";
import type { ErrorResponse } from "../codec.ts";
import { optionsOf } from "../receive.ts";

/** Claude's words, which proxies hand on (F100, F102). */
const blocks: readonly RegExp[] = [
  /invalid [`'"\\]*signature[`'"\\]* in [`'"\\]*thinking/i,
  /thinking[`'"\\]* (?:or [`'"\\]*redacted_thinking[`'"\\]* )?blocks[^.]{0,80} cannot be modified/i,
  /expected [`'"\\]*thinking[`'"\\]*(?: or [`'"\\]*redacted_thinking[`'"\\]*)?,? but found/i,
];
/** A member of a message that the server does not know (F105). The setting `reasoning` stands in no message. */
const field: RegExp =
  /\b(?:messages|assistant)\b[^{}]{0,200}\breasoning(?:_content|_details|_text|_opaque)?\b|\breasoning_(?:content|details|text|opaque)\b/i;
const refused: RegExp =
  /unsupported|not supported|not permitted|not allowed|extra_forbidden|unknown|unrecogni[sz]ed|unexpected|additional propert/i;
const missing: RegExp = /must be (?:passed|sent|provided)|passed back|is (?:missing|required)|missing field/i;
/** Characters: a body may repeat the request, and what people wrote there is no complaint. */
const head = 2000;

/** The error, with `repair` set when the refusal is about reasoning that could be left out. */
export function withRepair(error: RondoError, { status, body }: ErrorResponse): RondoError {
  if (error.kind !== "invalid_request" || (status !== 400 && status !== 422)) return error;
  const words = body.slice(0, head);
  const isField = field.test(words) && refused.test(words) && !missing.test(words);
  if (!isField && !blocks.some((pattern) => pattern.test(words))) return error;
  return new RondoError(error.kind, error.message, {
    ...optionsOf(error),
    ...(error.cause === undefined ? {} : { cause: error.cause }),
    repair: "reasoning",
  });
}
