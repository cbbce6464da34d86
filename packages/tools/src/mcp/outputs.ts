// The room of an MCP server's answer: turns it into tool outputs, whatever it contains.

import type { Json, ToolOutput } from "@rondo/core";

interface Block {
  /** text, image, audio, resource, resource_link; others may come. */
  type?: unknown;
  text?: unknown;
  data?: unknown;
  mimeType?: unknown;
  uri?: unknown;
  name?: unknown;
  title?: unknown;
  description?: unknown;
  resource?: { uri?: unknown; text?: unknown; blob?: unknown; mimeType?: unknown } | null;
}

/**
 * What the model reads of it. Most servers repeat structured content as text; of those whose text only sums it up, the model reads
 * it as well.
 */
export function outputsOf(answer: unknown): ToolOutput[] {
  const { content, structuredContent } = (answer ?? {}) as { content?: unknown; structuredContent?: Json };
  const blocks = Array.isArray(content) ? (content as (Block | null)[]) : [];
  const outputs = blocks.map((block) => outputOf(block ?? {}));
  const texts = outputs.flatMap((one) => (one.type === "text" ? [one.text] : []));
  if (structuredContent === undefined || structuredContent === null) return outputs;
  if (outputs.length > 0 && isTold(structuredContent, texts.join("\n"))) return outputs;
  return [...outputs, { type: "json", json: structuredContent }];
}

/** How many values of structured content are looked for in the text: if so many are there, so are the others. */
const mostLooked = 1_000;

/** Whether a text says all that structured content holds, in whatever form: each of its values occurs in it. */
function isTold(structured: Json, text: string): boolean {
  const left: Json[] = [structured];
  const seen = new Set<object>();
  let looked = 0;
  for (let one = left.pop(); one !== undefined && looked < mostLooked; one = left.pop()) {
    if (typeof one === "object" && one !== null) {
      // A client in this process may give an object that holds itself.
      if (seen.has(one)) continue;
      seen.add(one);
      // One by one: a long list has more values than a call takes as arguments.
      for (const value of Object.values(one)) left.push(value);
    } else if (one !== null) {
      looked += 1;
      if (!spellings(String(one)).some((spelling) => text.includes(spelling))) return false;
    }
  }
  return true;
}

/** A text as it is, and as it may stand in JSON. */
function spellings(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  const inAscii = escaped.replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return [value, escaped, inAscii];
}

function outputOf(block: Block): ToolOutput {
  const { type, text, data, mimeType, uri, resource } = block;
  if (typeof data === "string") return { type: "file", data, mediaType: textOr(mimeType, unknownType) };
  if (typeof resource?.blob === "string") {
    const mediaType = textOr(resource.mimeType, unknownType);
    const name = typeof resource.uri === "string" ? { name: resource.uri } : {};
    return { type: "file", data: resource.blob, mediaType, ...name };
  }
  if (typeof uri === "string" && typeof text !== "string") return { type: "text", text: linkOf(uri, block) };
  const said = [text, resource?.text, resource?.uri].find((one) => typeof one === "string");
  return { type: "text", text: textOr(said, `(${textOr(type, "nothing")})`) };
}

/** A link to a resource: its address, and what the server says that it is. */
function linkOf(uri: string, { title, name, description, mimeType }: Block): string {
  const said = [title ?? name, description, mimeType].filter((one) => typeof one === "string" && one !== uri);
  return said.length === 0 ? uri : `${uri} (${said.join("; ")})`;
}

const unknownType = "application/octet-stream";
const textOr = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise);
