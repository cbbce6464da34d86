// The room of files, for all protocols: whether the target takes one, and the text in a text file.

import type { FilePart } from "@rondo/core";
import type { Target } from "../codec.ts";
import { knownType, typeOfFile } from "./media-types.ts";

/** Whether the target takes this file. Every model takes text; if nothing is known, yes. */
export function isAccepted(file: FilePart, { facts: { accepts }, origin }: Target): boolean {
  if (!isReadable(file) || !isInReach(file, origin)) return false;
  const type = typeOfFile(file);
  if (accepts === undefined || type.startsWith("text/")) return true;
  return accepts.map(knownType).some((known) => {
    if (known === "*/*" || known === type) return true;
    return known.endsWith("/*") && type.startsWith(known.slice(0, -1));
  });
}

/** Whether a server could read it. One that it cannot read would cost this request and every later one. */
export function isReadable({ mediaType, data, url }: FilePart): boolean {
  // A `blob:` is in the memory of one browser.
  if (typeof data !== "string") return url === undefined || !/^\s*(?:file|blob):/i.test(url);
  return !/^(?:image|audio|video)\/|^application\/pdf/.test(knownType(mediaType)) || base64Form.test(data);
}

/** Stores whose addresses only their owner's models read, and the protocol of those. */
const stores: readonly (readonly [address: RegExp, api: string])[] = [
  [/^\s*s3:/i, "bedrock-converse"],
  [/^\s*gs:/i, "google-generative-ai"],
];

/**
 * Whether the model's server could fetch it: a history may come from another provider's model. A gateway may have any model
 * behind it.
 */
function isInReach({ data, url }: FilePart, { api, provider }: Target["origin"]): boolean {
  if (typeof data === "string" || url === undefined) return true;
  if (api === "openai-chat" && provider !== "openai" && provider !== "azure") return true;
  return stores.every(([address, owner]) => owner === api || !address.test(url));
}

/** Why the target does not get a file that is not accepted. */
export function whyLeftOut(file: FilePart, { origin }: Target): string {
  if (!isReadable(file)) return "it cannot be read";
  return isInReach(file, origin)
    ? `${origin.model} does not take it`
    : `${origin.model} does not reach ${file.url}`;
}

const base64Form = /^[A-Za-z0-9+/]+={0,2}$/;

/** The text in base64 data, as UTF-8; data that is not base64 is taken as the text itself. */
export function textOfFile(data: string): string {
  let bytes: string;
  try {
    bytes = atob(data);
  } catch {
    return data;
  }
  return new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
}
