// The room of the word that an answer ends with, whatever the protocol calls its member.

import type { Json } from "@rondo/core";
import { textIn } from "../json-values.ts";

/** The word; undefined where it is none, or one for nothing in so many letters, as gateways write it: that ends nothing. */
export function stopWord(told: Json | undefined): string | undefined {
  const word = textIn(told);
  return word === undefined || /^(?:|null|none)$/i.test(word) ? undefined : word;
}
