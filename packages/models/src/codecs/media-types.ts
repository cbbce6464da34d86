// The room of media types that are written in several ways: what one tool calls `image/jpg` and a server's header
// `image/jpeg; charset=binary`, providers know as `image/jpeg`.

import type { FilePart } from "@rondo/core";
import { ownMember } from "../own-member.ts";

/** What others call a JPEG or a PNG: the providers know one name. */
const otherNames: { readonly [mediaType: string]: string } = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
};

/** What no type is told of. */
const bytesOf = "application/octet-stream";

/** How files begin, in base64. */
const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGg/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD/, "image/gif"],
  [/^UklG.{8}RUJQ/, "image/webp"],
  [/^JVBERi0/, "application/pdf"],
];

/**
 * The media type of a file. An image is what its bytes are, whatever it was called, for providers look at them and refuse what
 * was called by another name; so is what was called nothing.
 */
export function typeOfFile({ mediaType, data }: Pick<FilePart, "mediaType" | "data">): string {
  const told = knownType(mediaType);
  if (typeof data === "string" && (told === bytesOf || told.startsWith("image/")))
    for (const [beginning, type] of beginnings) if (beginning.test(data)) return type;
  return told;
}

/** The media type by the name that providers know. */
export function knownType(mediaType: string): string {
  const plain = mediaType.replace(/;.*/s, "").trim().toLowerCase();
  return ownMember(otherNames, plain) ?? (plain === "" ? bytesOf : plain);
}
