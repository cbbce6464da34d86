// The room of files, for all protocols: whether the target takes one, and the text in a text file.

import type { FilePart } from "@rondo/core";
import type { Target } from "../codec.ts";
import { knownType, typeOfFile } from "./media-types.ts";

/** Whether the target takes this file. Every model takes text; if nothing is known, yes. */
export function isAccepted(file: FilePart, { facts: { accepts } }: Target): boolean {
  if (!isReadable(file)) return false;
  const type = typeOfFile(file);
  if (accepts === undefined || type.startsWith("text/")) return true;
  return accepts.map(knownType).some((known) => {
    if (known === "*/*" || known === type) return true;
    return known.endsWith("/*") && type.startsWith(known.slice(0, -1));
  });
}

/** Whether a server could read it. One that it cannot read would cost this request and every later one. */
export function isReadable({ mediaType, data, url }: FilePart): boolean {
  if (typeof data !== "string") return url === undefined || !/^\s*file:/i.test(url);
  return !/^(?:image|audio|video)\/|^application\/pdf/.test(knownType(mediaType)) || base64Form.test(data);
}

/** Why the target does not get a file that is not accepted. */
export const whyLeftOut = (file: FilePart, { origin }: Target): string =>
  isReadable(file) ? `${origin.model} does not take it` : "it cannot be read";

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
