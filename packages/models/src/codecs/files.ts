// The room of files, for all protocols: whether the target takes one, and the text in a text file.

import type { Target } from "../codec.ts";
import { knownType } from "./media-types.ts";

/** Whether the target takes files of this media type. Every model takes text; if nothing is known, yes. */
export function isAccepted(mediaType: string, { facts: { accepts } }: Target): boolean {
  const type = knownType(mediaType);
  if (accepts === undefined || type.startsWith("text/")) return true;
  return accepts.map(knownType).some((known) => {
    if (known === "*/*" || known === type) return true;
    return known.endsWith("/*") && type.startsWith(known.slice(0, -1));
  });
}

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
