// The room of parts: texts and files of a conversation as a page shows them.

import type { ContentPart, FilePart, Json } from "../../message.ts";
import type { UiFile, UiPart, UiSource, UiText } from "./shapes.ts";

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

/** How many sources are among a message's parts. */
export const sourcesOf = (parts: readonly UiPart[]): number =>
  parts.reduce((count, { type }) => count + (type === "source-url" ? 1 : 0), 0);

/** The pages among a text's citations, each once. @param shown how many sources the message shows already */
export function sourcesIn(citations: readonly Json[] | undefined, shown: number): UiSource[] {
  const found = new Map<string, { title?: string }>();
  for (const citation of citations ?? []) {
    const { url, uri = url, title } = { ...(citation as { url?: Json; uri?: Json; title?: Json }) };
    if (typeof uri === "string") found.set(uri, typeof title === "string" ? { title } : {});
  }
  return [...found].map(([url, title], at) => {
    return { type: "source-url", sourceId: `source ${shown + at + 1}`, url, ...title };
  });
}
