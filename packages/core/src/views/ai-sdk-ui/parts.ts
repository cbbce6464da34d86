// The room of parts: texts and files of a conversation as a page shows them.

import type { ContentPart, FilePart, Json } from "../../message.ts";
import type { UiFile, UiText } from "./shapes.ts";

/** A text stays one. A file has a URL; one whose bytes are in a blob store is only named. */
export function fileOf(part: ContentPart): UiText | UiFile {
  if (part.type === "text") return { type: "text", text: part.text };
  const url =
    part.url ?? (typeof part.data === "string" ? `data:${part.mediaType};base64,${part.data}` : undefined);
  if (url === undefined) return { type: "text", text: named(part) };
  return {
    type: "file",
    mediaType: part.mediaType,
    url,
    ...(part.name === undefined ? {} : { filename: part.name }),
  };
}

const named = ({ name, mediaType }: FilePart): string => `(${name ?? mediaType})`;

/** A result as text. */
export const textIn = (content: readonly ContentPart[]): string =>
  content.map((part) => (part.type === "text" ? part.text : named(part))).join("\n");

/** A result as a page shows it: the details that a tool gave for programs, or else what the model reads. */
export const outputOf = (content: readonly ContentPart[], details: Json | undefined): Json =>
  details ?? textIn(content);
