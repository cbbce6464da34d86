// The room of addresses that are not the vendor's own: what the server there may leave in its texts.

import type { Json, Model } from "@rondo/core";
import { chooseServer } from "../compat/choose.ts";
import { addresses, withoutLeakedCalls } from "../prompted/leaked.ts";

const vendors =
  /^https?:\/\/(?:[\w-]+\.)*(?:anthropic\.com|(openai\.com|(?:openai|cognitiveservices)\.azure\.com)|googleapis\.com)(?:[:/]|$)/i;

/** Whether an address is a vendor's own. */
export const isVendors = (baseURL: string): boolean => vendors.test(baseURL);

/**
 * The quirks of an address. Behind an unknown address there may be the vendor or any other server, with any model: requests
 * are sent as to the vendor, but texts and ids in answers are read as those of any server (F106, F113). A server of the
 * table has the quirks of its row, whatever its protocol.
 */
export function leftInTexts(baseURL: string): { [quirk: string]: Json } {
  if (vendors.test(baseURL)) return {};
  const { thinkTags, signedIds } = chooseServer(undefined, baseURL).server.compat;
  return { endTokens: true, ...(thinkTags && { thinkTags }), ...(signedIds && { signedIds }) };
}

/**
 * The model at an address. Unless that is the vendor's, an answer that ends in calls left in its text is malformed (F234);
 * at OpenAI's, calls with their address alone are looked for.
 */
export function readAt(baseURL: string, model: Model): Model {
  const vendor = vendors.exec(baseURL);
  if (vendor === null) return withoutLeakedCalls(model);
  return vendor[1] === undefined ? model : withoutLeakedCalls(model, addresses);
}
