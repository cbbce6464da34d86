// The room of an answer's finish reason, whatever the protocol's name for it.

import type { Json } from "@rondo/core";
import { textIn } from "../json-values.ts";

/** The finish reason. Undefined if it is no string, or a word like "null" or "none", as gateways write it: those end nothing. */
export function stopWord(told: Json | undefined): string | undefined {
  const word = textIn(told);
  return word === undefined || /^(?:|null|none)$/i.test(word) ? undefined : word;
}
