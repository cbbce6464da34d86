// The room of media types with several spellings: one tool says `image/jpg`, a server's header `image/jpeg;
// charset=binary`, but providers only know `image/jpeg`.

import type { FilePart } from "@rondo/core";
import { ownMember } from "../own-member.ts";

/** Other names for JPEG and PNG. */
const otherNames: { readonly [mediaType: string]: string } = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
};

/** Texts that are not called so: providers refuse them as images or documents. */
const texts: RegExp =
  /^(?:application\/(?:x-)?(?:json|jsonl|ndjson|xml|yaml|toml|javascript|ecmascript|typescript|sql|sh|shellscript|httpd-php|python|tex|graphql)|(?:application|image|model)\/[\w.-]+\+(?:json|xml|yaml))$/;

/** The type of a file of unknown type. */
const bytesOf = "application/octet-stream";

/** How files begin, in base64. */
const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGg/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD/, "image/gif"],
  [/^UklG.{8}RUJQ/, "image/webp"],
  [/^Qk[0-3]/, "image/bmp"],
  [/^(?:SUkqA|TU0AK)/, "image/tiff"],
  [/^AAABAA/, "image/x-icon"],
  [/^AAAA..Z0eXBoZWl[jz4]/, "image/heic"],
  [/^AAAA..Z0eXBhdmlm/, "image/avif"],
  [/^JVBERi0/, "application/pdf"],
];

/**
 * The media type of a file. An image's type is taken from its bytes, whatever it was called, because providers check it and
 * refuse a wrong one; so is that of a file without a type.
 */
export function typeOfFile({ mediaType, data }: Pick<FilePart, "mediaType" | "data">): string {
  const told = knownType(mediaType);
  if (typeof data === "string" && (told === bytesOf || /^image\//i.test(mediaType)))
    for (const [beginning, type] of beginnings) if (beginning.test(data)) return type;
  return told;
}

/** The media type under the name that providers know; that of any text begins with `text/`. */
export function knownType(mediaType: string): string {
  const plain = mediaType.replace(/;.*/s, "").trim().toLowerCase();
  if (texts.test(plain)) return plain.replace(/^\w+/, "text");
  return ownMember(otherNames, plain) ?? (plain === "" ? bytesOf : plain);
}
