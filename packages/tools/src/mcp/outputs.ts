// The room of an MCP server's answer: turns it into tool outputs, whatever it contains.

import type { Json, ToolOutput } from "@rondo/core";

interface Block {
  /** text, image, audio, resource, resource_link; others may come. */
  type?: unknown;
  text?: unknown;
  data?: unknown;
  mimeType?: unknown;
  uri?: unknown;
  resource?: { uri?: unknown; text?: unknown; blob?: unknown; mimeType?: unknown } | null;
}

/** What the model reads of it. Structured content is used only if there is nothing else: servers repeat it as text. */
export function outputsOf({
  content,
  structuredContent,
}: {
  content?: unknown;
  structuredContent?: Json;
}): ToolOutput[] {
  const blocks = Array.isArray(content) ? (content as (Block | null)[]) : [];
  if (blocks.length === 0 && structuredContent !== undefined)
    return [{ type: "json", json: structuredContent }];
  return blocks.map((block) => outputOf(block ?? {}));
}

function outputOf({ type, text, data, mimeType, uri, resource }: Block): ToolOutput {
  if (typeof data === "string") return { type: "file", data, mediaType: textOr(mimeType, unknownType) };
  if (typeof resource?.blob === "string") {
    const mediaType = textOr(resource.mimeType, unknownType);
    const name = typeof resource.uri === "string" ? { name: resource.uri } : {};
    return { type: "file", data: resource.blob, mediaType, ...name };
  }
  const said = [text, resource?.text, uri, resource?.uri].find((one) => typeof one === "string");
  return { type: "text", text: textOr(said, `(${textOr(type, "nothing")})`) };
}

const unknownType = "application/octet-stream";
const textOr = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise);
