// The room of the corpus: finds files with one complete response of the five protocols, and their bytes.
//
// The protocol is recognized by the content, not by the name; the folder only decides ambiguous cases. Files are
// recorded without framing (one JSON object per line); the wire's framing is added here, so that both sides read
// the same bytes.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { EventStreamCodec } from "@smithy/eventstream-codec";

export type Protocol =
  | "anthropic-messages"
  | "openai-chat"
  | "openai-responses"
  | "google-generative-ai"
  | "bedrock-converse";

/** Any JSON object, as providers fill it. */
export type Loose = { [member: string]: unknown };

export interface Recording {
  protocol: Protocol;
  /** A stream's frames as bytes, one element per frame; or one complete JSON body. */
  frames: Uint8Array[];
  whole: boolean;
  contentType: string;
}

/** A recording, or why a file is not one. */
export type Found = { file: string } & ({ recording: Recording } | { reason: string });

/** Every transcript under a folder, in a stable order. */
export function findRecordings(dir: string): Found[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:json|chunks\.txt|sse)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => {
      const file = relative(dir, path).split(sep).join("/");
      const found = read(readFileSync(path, "utf8"), file);
      return typeof found === "string" ? { file, reason: found } : { file, recording: found };
    });
}

function read(text: string, file: string): Recording | string {
  if (file.endsWith(".json")) {
    const body = parse(text);
    if (body === undefined) return "the file is no JSON object";
    const protocol = protocolOf([body], true);
    if (!isProtocol(protocol)) return protocol;
    return { protocol, frames: [bytes(text)], whole: true, contentType: "application/json" };
  }
  const raw = file.endsWith(".sse");
  const lines = raw
    ? text.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : []))
    : text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const chunks: Loose[] = [];
  for (const line of lines) {
    if (line === "[DONE]") continue;
    const chunk = parse(line);
    if (chunk === undefined) return "a line of the file is not JSON";
    chunks.push(chunk);
  }
  const protocol = protocolOf(chunks, false);
  if (!isProtocol(protocol)) return protocol;
  const starts = chunks.filter((chunk) => isStart(protocol, chunk)).length;
  if (starts > 1) return `the file holds ${starts} responses one after the other`;
  const frames = raw
    ? text.split(/(?<=\n\r?\n)/).map(bytes)
    : protocol === "bedrock-converse"
      ? chunks.map(eventFrame)
      : lines.map((line, i) => bytes(`${eventName(protocol, chunks[i] ?? {})}data: ${line}${gap(protocol)}`));
  if (protocol === "openai-chat" && !raw) frames.push(bytes("data: [DONE]\n\n"));
  const contentType =
    protocol === "bedrock-converse" ? "application/vnd.amazon.eventstream" : "text/event-stream";
  return { protocol, frames, whole: false, contentType };
}

/** Google ends lines with CRLF; the others do not. */
function gap(protocol: Protocol): string {
  return protocol === "google-generative-ai" ? "\r\n\r\n" : "\n\n";
}

function eventName(protocol: Protocol, chunk: Loose): string {
  return protocol === "anthropic-messages" || protocol === "openai-responses" ? `event: ${chunk.type}\n` : "";
}

function isStart(protocol: Protocol, chunk: Loose): boolean {
  switch (protocol) {
    case "anthropic-messages":
      return chunk.type === "message_start";
    case "openai-responses":
      return chunk.type === "response.created";
    case "bedrock-converse":
      return "messageStart" in chunk;
    default:
      return false;
  }
}

const bedrockEvents: ReadonlySet<string> = new Set([
  "messageStart",
  "contentBlockStart",
  "contentBlockDelta",
  "contentBlockStop",
  "messageStop",
  "metadata",
]);

/** The protocol of a response, or why it is none of the five. */
function protocolOf(chunks: readonly Loose[], whole: boolean): Protocol | string {
  const [first] = chunks;
  if (first === undefined) return "the file is empty";
  if (
    whole &&
    (first.type === "error" ||
      (isObject(first.error) && first.choices === undefined && first.object === undefined))
  )
    return "the file holds an error and no response";
  for (const chunk of chunks) {
    const type = typeof chunk.type === "string" ? chunk.type : "";
    const object = typeof chunk.object === "string" ? chunk.object : "";
    if (type === "message_start" || (type === "message" && Array.isArray(chunk.content)))
      return "anthropic-messages";
    if (type.startsWith("response.") || object === "response") return "openai-responses";
    if (object.startsWith("chat.completion")) return "openai-chat";
    if (object === "text_completion")
      return "the protocol is the older completions, which is none of the five";
    if (chunk.event_type !== undefined || object === "interaction" || type.startsWith("interaction."))
      return "the protocol is Google's interactions, which is none of the five";
    if (Array.isArray(chunk.candidates) || chunk.promptFeedback !== undefined) return "google-generative-ai";
    const [key, ...others] = Object.keys(chunk);
    if (others.length === 0 && key !== undefined && bedrockEvents.has(key)) return "bedrock-converse";
    if (whole && isObject(chunk.output) && chunk.stopReason !== undefined) return "bedrock-converse";
    if (type === "message-start" || (whole && chunk.finish_reason !== undefined))
      return "the protocol is Cohere's own, which is none of the five";
    if (Array.isArray(chunk.choices)) return "openai-chat";
  }
  return "the protocol is none of the five";
}

const protocols: ReadonlySet<string> = new Set<Protocol>([
  "anthropic-messages",
  "openai-chat",
  "openai-responses",
  "google-generative-ai",
  "bedrock-converse",
]);

function isProtocol(word: string): word is Protocol {
  return protocols.has(word);
}

const frameCodec = new EventStreamCodec(
  (input) => new TextDecoder().decode(input as Uint8Array),
  (input) => new TextEncoder().encode(input),
);

/** A line of a Bedrock recording, `{ eventType: payload }`, as the original binary message. */
function eventFrame(chunk: Loose): Uint8Array {
  const [[name, payload] = ["", {}]] = Object.entries(chunk);
  const failed = name.endsWith("Exception");
  return frameCodec.encode({
    headers: {
      [failed ? ":exception-type" : ":event-type"]: { type: "string", value: name },
      ":content-type": { type: "string", value: "application/json" },
      ":message-type": { type: "string", value: failed ? "exception" : "event" },
    },
    body: bytes(JSON.stringify(payload)),
  });
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function parse(text: string): Loose | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
