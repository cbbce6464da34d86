// The room of media types that are written in several ways: what one tool calls `image/jpg` and a server's header
// `image/jpeg; charset=binary`, providers know as `image/jpeg`.

import { ownMember } from "../own-member.ts";

/** What others call a JPEG or a PNG: the providers know one name. */
const otherNames: { readonly [mediaType: string]: string } = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
};

/** The media type by the name that providers know. */
export function knownType(mediaType: string): string {
  const plain = mediaType.replace(/;.*/s, "").trim().toLowerCase();
  return ownMember(otherNames, plain) ?? plain;
}
