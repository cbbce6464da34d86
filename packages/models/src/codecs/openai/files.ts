// The room of files on their way to an OpenAI protocol: what each place takes, and the words that stand for the rest.
//
// A file that cannot be sent becomes a neutral note in its place, never silence: the model should know that it was there.

import type { FilePart } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { isAccepted } from "../files.ts";

export interface WireFile {
  kind: "image" | "audio" | "text" | "document";
  /** A data URL, or the file's own address. */
  url: string;
  /** The bytes in base64, where there are any. */
  data?: string;
  mediaType: string;
  name: string;
}

/** A file as it can be sent, or the note that stands for it. */
export function wireFile(part: FilePart, target: Target): WireFile | { note: string } {
  const name = part.name ?? `file.${extension(part.mediaType)}`;
  if (!isAccepted(part.mediaType, target))
    return { note: `[${name} (${part.mediaType}) is left out: ${target.origin.model} does not take it]` };
  const kind = part.mediaType.startsWith("image/")
    ? "image"
    : part.mediaType.startsWith("audio/")
      ? "audio"
      : part.mediaType.startsWith("text/")
        ? "text"
        : "document";
  if (typeof part.data === "string")
    return {
      kind,
      url: `data:${part.mediaType};base64,${part.data}`,
      data: part.data,
      mediaType: part.mediaType,
      name,
    };
  if (part.url !== undefined) return { kind, url: part.url, mediaType: part.mediaType, name };
  return { note: `[${name} (${part.mediaType}) is stored elsewhere and was not loaded]` };
}

function extension(mediaType: string): string {
  const tail = mediaType.split("/")[1] ?? "bin";
  return tail.replace(/[;+].*$/, "");
}
