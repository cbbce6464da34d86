// The room of files on their way to an OpenAI protocol: what each place takes, and the words that stand for the rest.
//
// A file that cannot be sent becomes a neutral note in its place, never silence: the model should know that it was there.

import type { FilePart } from "@rondo/core";
import type { Target } from "../../codec.ts";

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
  const accepts = target.facts.accepts;
  // Text is what every model takes.
  if (
    !part.mediaType.startsWith("text/") &&
    accepts !== undefined &&
    !accepts.some((pattern) => fits(part.mediaType, pattern))
  )
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

/** The text of a base64 text file; what is no base64 is taken for the text itself. */
export function fileText(data: string): string {
  let bytes: string;
  try {
    bytes = atob(data);
  } catch {
    return data;
  }
  return new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
}

function fits(mediaType: string, pattern: string): boolean {
  return (
    pattern === "*/*" ||
    pattern === mediaType ||
    (pattern.endsWith("/*") && mediaType.startsWith(pattern.slice(0, -1)))
  );
}

function extension(mediaType: string): string {
  const tail = mediaType.split("/")[1] ?? "bin";
  return tail.replace(/[;+].*$/, "");
}
