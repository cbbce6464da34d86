// The room of an MCP server's answer: turns it into tool outputs, whatever it contains.

import type { Json, ToolOutput } from "@rondo/core";
import { bytesOutput } from "./bytes.ts";
import { isTold } from "./told.ts";

interface Answer {
  content?: unknown;
  structuredContent?: Json;
  isError?: unknown;
  /** What servers of the first protocol answered with: a whole answer, or any value. */
  toolResult?: unknown;
  _meta?: unknown;
}

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

/** Whether the answer is of a call that failed. */
export const isFailed = (answer: unknown): boolean => (membersOf(answer) as Answer).isError === true;

/**
 * What the model reads of it. Most servers repeat structured content as text; of those whose text only sums it up, the model reads
 * it as well.
 */
export function outputsOf(answer: unknown): ToolOutput[] {
  const given = membersOf(answer) as Answer;
  const { content, structuredContent, toolResult } = given;
  if (toolResult !== undefined && content === undefined)
    return outputsOf("content" in membersOf(toolResult) ? toolResult : { structuredContent: toolResult });
  const outputs = blocksOf(content).map(outputOf);
  const texts = outputs.flatMap((one) => (one.type === "text" ? [one.text] : []));
  const said = texts.join("\n");
  if (structuredContent !== undefined && structuredContent !== null) {
    if (outputs.length > 0 && isTold(structuredContent, said)) return outputs;
    return [...outputs, { type: "json", json: structuredContent }];
  }
  if (content === undefined) outputs.push(...otherMembers(given));
  const isBlank = said.trim() === "" && texts.length === outputs.length;
  return isFailed(answer) && isBlank ? [{ type: "text", text: unsaid }] : outputs;
}

const unsaid = "the call failed, and the server does not say why";

/** An answer's members; none if it is no object. */
const membersOf = (answer: unknown): object => (typeof answer === "object" && answer !== null ? answer : {});

/** A list of blocks, or what stands for one. */
function blocksOf(content: unknown): unknown[] {
  if (Array.isArray(content)) return content;
  return content === undefined || content === null ? [] : [content];
}

/** What a server answers in words of its own. */
function otherMembers({ isError: _, _meta, structuredContent: __, ...others }: Answer): ToolOutput[] {
  return Object.keys(others).length === 0 ? [] : [{ type: "json", json: others as Json }];
}

function outputOf(given: unknown): ToolOutput {
  if (typeof given === "string") return { type: "text", text: given };
  if (typeof given !== "object" || given === null) return { type: "text", text: "(nothing)" };
  const block = given as Block;
  const { type, text, data, mimeType, uri, resource } = block;
  const isFile = type === "image" || type === "audio" || typeof mimeType === "string";
  const read =
    typeof data === "string" && isFile
      ? bytesOutput(data, mimeType)
      : typeof resource?.blob === "string"
        ? bytesOutput(resource.blob, resource.mimeType, resource.uri)
        : undefined;
  if (read !== undefined) return read;
  if (typeof uri === "string" && typeof text !== "string") return { type: "text", text: linkOf(uri, block) };
  const said = [text, resource?.text, resource?.uri].find((one) => typeof one === "string");
  return said === undefined ? { type: "json", json: given as Json } : { type: "text", text: said as string };
}

/** A link to a resource: its address, and what the server says that it is. */
function linkOf(uri: string, { title, name, description, mimeType }: Block): string {
  const said = [title ?? name, description, mimeType].filter((one) => typeof one === "string" && one !== uri);
  return said.length === 0 ? uri : `${uri} (${said.join("; ")})`;
}
