// The room of media types with several spellings: one tool says `image/jpg`, a server's header `image/jpeg;
// charset=binary`, but providers only know `image/jpeg`.

import type { FilePart } from "@rondo/core";
import { ownMember } from "@rondo/core/checks";

/** Other names for JPEG and PNG, and for formats of sound. */
const otherNames: { readonly [mediaType: string]: string } = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
  "audio/x-wav": "audio/wav",
  "audio/wave": "audio/wav",
  "audio/vnd.wave": "audio/wav",
  "audio/x-flac": "audio/flac",
  "audio/x-m4a": "audio/mp4",
};

/** Samples without a header: only the parameters say how fast they are to be heard. */
const bareSamples: RegExp = /^\s*audio\/(?:l\d+|pcm)\s*(?:;|$)/i;

/** Whether a sound has no header, so that pieces of it can be joined. */
export const isBareSamples = (mediaType: string): boolean => bareSamples.test(mediaType);

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
  [/^UklG.{8}QVZF/, "audio/wav"],
  [/^T2dnU/, "audio/ogg"],
  [/^ZkxhQ/, "audio/flac"],
  [/^SUQz/, "audio/mpeg"],
  [/^AAAA..Z0eXBNNE/, "audio/mp4"],
];

/** The same of sound, where other files may begin in the same way. */
const soundBeginnings: readonly (readonly [RegExp, string])[] = [
  [/^\/\/[I-Po-v]/, "audio/mpeg"],
  [/^\/\/[E-Hk-n]/, "audio/aac"],
  [/^AAAA..Z0eXB/, "audio/mp4"],
  [/^GkXfo/, "audio/webm"],
];

/**
 * The media type of a file. The type of an image or a sound is taken from its bytes, whatever it was called, because
 * providers check it and refuse a wrong one; so is that of a file without a type.
 */
export function typeOfFile({ mediaType, data }: Pick<FilePart, "mediaType" | "data">): string {
  const told = knownType(mediaType);
  if (typeof data !== "string" || bareSamples.test(told)) return told;
  if (told.startsWith("audio/")) return soundIn(data) ?? told;
  return (told === bytesOf || /^image\//i.test(mediaType) ? typeIn(data, beginnings) : undefined) ?? told;
}

/** The type of a sound by its bytes. */
const soundIn = (data: string): string | undefined => {
  const type = typeIn(data, beginnings);
  return type?.startsWith("audio/") === true ? type : typeIn(data, soundBeginnings);
};

const typeIn = (data: string, known: typeof beginnings): string | undefined =>
  known.find(([beginning]) => beginning.test(data))?.[1];

/** Types whose files always begin in one of the known ways. */
const withBeginning: RegExp = /^(?:image\/(?:png|jpeg|gif|webp)|audio\/(?:wav|ogg|flac)|application\/pdf)$/;

/** Whether a file's bytes are nothing that it could be: a text, say, in a file that is called a sound. */
export function isMisnamed({ mediaType, data }: Pick<FilePart, "mediaType" | "data">): boolean {
  if (typeof data !== "string" || !withBeginning.test(knownType(mediaType))) return false;
  return typeIn(data, beginnings) === undefined && typeIn(data, soundBeginnings) === undefined;
}

/** The media type under the name that providers know; that of any text begins with `text/`. Samples without a header keep their rate. */
export function knownType(mediaType: string): string {
  if (bareSamples.test(mediaType)) return mediaType.replaceAll(/\s+/g, "");
  const plain = mediaType.replace(/;.*/s, "").trim().toLowerCase();
  if (texts.test(plain)) return plain.replace(/^\w+/, "text");
  return ownMember(otherNames, plain) ?? (plain === "" ? bytesOf : plain);
}
