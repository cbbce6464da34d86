// The room of bytes in a server's answer: a text if they are one, else a file.
//
// A text in base64 is no file to a model: it cannot be cut to size or searched, and most providers refuse it. What is no base64 is no
// file either: the request that has it is refused, and every later one of the session.

import type { ToolOutput } from "@rondo/core";

const unknownType = "application/octet-stream";

/** Types that are texts, whatever their names. */
const textual: RegExp =
  /^(?:text\/[\w.+-]+|application\/(?:x-)?(?:json|jsonl|ndjson|xml|yaml|toml|javascript|typescript|sql|sh|graphql)|[\w.-]+\/[\w.-]+\+(?:json|xml|yaml))\s*(?:;|$)/i;

const inUrl: RegExp = /^data:[^,]*,/i;

/** Base64 in either alphabet, on any number of lines. Three looks that each read it once: it may be long, and made to be slow. */
const isEncoded = (data: string): boolean =>
  /[\w+/-]/.test(data) && !/[^\w+/=\s-]/.test(data) && !/=\s*[^=\s]/.test(data);

/** The output of what a server calls bytes; undefined if it is no base64. */
export function bytesOutput(data: string, mimeType: unknown, uri?: unknown): ToolOutput | undefined {
  if (!inUrl.test(data) && !isEncoded(data)) return undefined;
  const mediaType = typeof mimeType === "string" ? mimeType : unknownType;
  const text = textual.test(mediaType) && !inUrl.test(data) ? textIn(data) : undefined;
  if (text !== undefined) return { type: "text", text };
  return { type: "file", data, mediaType, ...(typeof uri === "string" ? { name: uri } : {}) };
}

/** The text in base64; undefined if the bytes are not UTF-8. */
function textIn(data: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(data, "base64"));
  } catch {
    return undefined;
  }
}
