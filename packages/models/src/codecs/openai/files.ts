// The room of files in the OpenAI protocols: what each place accepts, and the note that replaces the rest.
//
// A file that cannot be sent is replaced by a neutral note, so that the model knows that it was there.

import type { FilePart } from "@rondo/core";
import { ownMember } from "@rondo/core/checks";
import type { Target } from "../../codec.ts";
import { isAccepted, whyLeftOut } from "../files.ts";
import { knownType, typeOfFile } from "../media-types.ts";
import type { WarningCode } from "../warn.ts";

export interface WireFile {
  kind: "image" | "audio" | "video" | "text" | "document";
  /** A data URL, or the file's own URL. */
  url: string;
  /** The bytes in base64, if known. */
  data?: string;
  mediaType: string;
  name: string;
}

/** The note that replaces a file that cannot be sent, and the warning about it. */
export interface FileNote {
  note: string;
  code: WarningCode;
}

/** The note for a file in an answer: none of these protocols takes one back. */
export function answeredNote({ name, mediaType: given }: FilePart): FileNote {
  const mediaType = knownType(given);
  const note = `[${name ?? `file.${extension(mediaType)}`} (${mediaType}) of this answer is not shown]`;
  return { note, code: "unsupported_file" };
}

/** A file as it can be sent, or the note that replaces it. */
export function wireFile(part: FilePart, target: Target): WireFile | FileNote {
  const mediaType = typeOfFile(part);
  const name = part.name ?? `file.${extension(mediaType)}`;
  if (!isAccepted(part, target))
    return {
      note: `[${name} (${mediaType}) is left out: ${whyLeftOut(part, target)}]`,
      code: "unsupported_file",
    };
  const { data } = part;
  const url = typeof data === "string" ? `data:${mediaType};base64,${data}` : part.url;
  if (url === undefined)
    return {
      note: `[${name} (${mediaType}) is stored elsewhere and was not loaded]`,
      code: "file_not_loaded",
    };
  const file = { kind: kindOf(mediaType), url, mediaType, name };
  return typeof data === "string" ? { ...file, data } : file;
}

function kindOf(mediaType: string): WireFile["kind"] {
  const [kind] = mediaType.split("/");
  return kind === "image" || kind === "audio" || kind === "video" || kind === "text" ? kind : "document";
}

/** The protocol's names for the formats of sound, by the media types that are called otherwise. */
const formats: { readonly [mediaType: string]: string } = {
  mpeg: "mp3",
  mpga: "mp3",
  mp4: "m4a",
  opus: "ogg",
};

/** The protocol's name for a format of sound. */
export function soundFormat(mediaType: string): string {
  const name = mediaType.replace(/^audio\/(?:x-)?/, "");
  return ownMember(formats, name) ?? name;
}

function extension(mediaType: string): string {
  const tail = mediaType.split("/")[1] ?? "bin";
  return tail.replace(/[+;].*$/, "");
}
