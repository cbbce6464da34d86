// The room of addresses that are not the vendor's own: what may stand in the texts of whoever answers there.

import type { Json, Model } from "@rondo/core";
import { chooseServer } from "../compat/choose.ts";
import { withoutLeakedCalls } from "../prompted/leaked.ts";

const vendors =
  /^https?:\/\/(?:[\w-]+\.)*(?:anthropic\.com|openai\.com|(?:openai|cognitiveservices)\.azure\.com|googleapis\.com)(?:[:/]|$)/i;

/**
 * Behind an address nobody knows may stand the vendor or any other server, with a model of any house: it is spoken to as the
 * vendor, and its texts and ids are read as those of any (F106, F113). A server of the table answers by its row, whatever its protocol.
 */
export function leftInTexts(baseURL: string): { [quirk: string]: Json } {
  if (vendors.test(baseURL)) return {};
  const { thinkTags, signedIds } = chooseServer(undefined, baseURL).server.compat;
  return { endTokens: true, ...(thinkTags && { thinkTags }), ...(signedIds && { signedIds }) };
}

/** The model at an address; where not the vendor answers, calls that a server left in the text are no answer (F234). */
export const readAt = (baseURL: string, model: Model): Model =>
  vendors.test(baseURL) ? model : withoutLeakedCalls(model);
