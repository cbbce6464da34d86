// The room of files on their way to any protocol: whether the target takes one, and the text that a text file holds.

import type { Target } from "../codec.ts";
import { knownType } from "./media-types.ts";

/** Whether the target takes files of this media type. Text is what every model takes; of what is not known, yes. */
export function isAccepted(mediaType: string, { facts: { accepts } }: Target): boolean {
  const type = knownType(mediaType);
  if (accepts === undefined || type.startsWith("text/")) return true;
  return accepts.map(knownType).some((known) => {
    if (known === "*/*" || known === type) return true;
    return known.endsWith("/*") && type.startsWith(known.slice(0, -1));
  });
}

/** The text that base64 holds, as UTF-8; what is no base64 is taken for the text itself. */
export function textOfFile(data: string): string {
  let bytes: string;
  try {
    bytes = atob(data);
  } catch {
    return data;
  }
  return new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
}
