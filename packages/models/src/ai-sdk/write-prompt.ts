// The room of the outgoing prompt: our conversation in the AI SDK's form.
//
// What belongs to an answer by this very model (signatures, ids, blocks of tools that the provider ran) goes back to it
// unchanged. Any other model gets what all of them understand: text, calls, results, files.

import {
  type AssistantMessage,
  type ContentPart,
  type FilePart,
  isSameOrigin,
  type Json,
  type MessageList,
  type Origin,
  type Part,
  type ToolMessage,
  textOf,
} from "@rondo/core";
import type { Warn } from "../codecs/warn.ts";
import { asRecord } from "./finish-and-usage.ts";
import { optionsOf } from "./provider-metadata.ts";
import type {
  AssistantPart,
  ByProvider,
  FileData,
  PromptFile,
  PromptMessage,
  PromptOutput,
  PromptResult,
  PromptText,
} from "./spec.ts";

export interface PromptTarget {
  origin: Origin;
  /** The version of the model's specification: 2, 3 or 4. */
  version: number;
  /** Whether the model fetches this URL itself. */
  fetches(mediaType: string, url: string): boolean;
  readonly warn: Warn;
}

export function writePrompt(
  system: string | undefined,
  messages: MessageList,
  target: PromptTarget,
): PromptMessage[] {
  const prompt: PromptMessage[] = [];
  if (system !== undefined && system !== "") prompt.push({ role: "system", content: system });
  let results: PromptResult[] | undefined;
  for (const message of messages) {
    if (message.role === "tool") {
      // Results of one answer go into one message, as the AI SDK itself writes them.
      if (results === undefined) {
        results = [];
        prompt.push({ role: "tool", content: results });
      }
      results.push(resultPart(message, target));
      continue;
    }
    results = undefined;
    if (message.role === "system") prompt.push({ role: "system", content: textOf(message) });
    else if (message.role === "user")
      prompt.push({ role: "user", content: message.content.map((part) => userPart(part, target)) });
    else {
      const content = answerParts(message, target);
      if (content.length > 0) prompt.push({ role: "assistant", content });
    }
  }
  return prompt;
}

function userPart(part: ContentPart, target: PromptTarget): PromptText | PromptFile {
  return part.type === "text" ? { type: "text", text: part.text } : filePart(part, target);
}

function answerParts(message: AssistantMessage, target: PromptTarget): AssistantPart[] {
  const own = isSameOrigin(message.origin, target.origin);
  return message.content.flatMap((part) => answerPart(part, own, target));
}

function answerPart(part: Part, own: boolean, target: PromptTarget): AssistantPart[] {
  const options = own && "opaque" in part ? withOptions(optionsOf(part.opaque)) : {};
  switch (part.type) {
    case "text":
      return part.text === "" && !("providerOptions" in options)
        ? []
        : [{ type: "text", text: part.text, ...options }];
    case "reasoning":
      return own ? [{ type: "reasoning", text: part.text, ...options }] : [];
    case "refusal":
      return [{ type: "text", text: part.text }];
    case "tool_call":
      return [{ type: "tool-call", toolCallId: part.id, toolName: part.name, input: part.args, ...options }];
    case "file": {
      const file = filePart(part, target);
      return [file.type === "file" ? { ...file, ...options } : file];
    }
    case "native":
      return own ? nativePart(part, target) : [];
  }
}

const withOptions = (options: ByProvider | undefined): { providerOptions?: ByProvider } =>
  options === undefined ? {} : { providerOptions: options };

/** A block as `readParts` kept it, back in the prompt's form. */
function nativePart(part: Part & { type: "native" }, target: PromptTarget): AssistantPart[] {
  const { type, toolCallId, toolName, input, result, isError, kind, mediaType, data, providerMetadata } =
    part.opaque;
  const options = withOptions(optionsOf(asRecord(providerMetadata) as { [name: string]: Json }));
  if (type === "custom" && target.version >= 4)
    return [{ type, ...(typeof kind === "string" ? { kind } : {}), ...options }];
  if (type === "reasoning-file" && target.version >= 4 && typeof mediaType === "string")
    return [{ type, mediaType, data: { type: "data", data: String(data) }, ...options }];
  if (typeof toolCallId !== "string" || typeof toolName !== "string") return [];
  if (type === "tool-call")
    return [{ type, toolCallId, toolName, input: input ?? {}, providerExecuted: true, ...options }];
  if (type === "tool-result") {
    const output: PromptOutput = { type: isError === true ? "error-json" : "json", value: result ?? null };
    return [{ type, toolCallId, toolName, output, ...options }];
  }
  return [];
}

function resultPart({ callId, name, content, isError }: ToolMessage, target: PromptTarget): PromptResult {
  const part = { type: "tool-result" as const, toolCallId: callId, toolName: name };
  const files = content.some(({ type }) => type === "file");
  if (files && !isError)
    return { ...part, output: { type: "content", value: content.map((one) => outputPart(one, target)) } };
  const text = content.map((one) => (one.type === "text" ? one.text : note(one, "not shown"))).join("\n");
  return { ...part, output: { type: isError ? "error-text" : "text", value: text } };
}

type OutputPart = Extract<PromptOutput, { type: "content" }>["value"][number];

function outputPart(part: ContentPart, target: PromptTarget): OutputPart {
  if (part.type === "text") return { type: "text", text: part.text };
  const data = fileData(part, target);
  if (data.type === "text") return data;
  const { mediaType, name } = part;
  const named = name === undefined ? {} : { filename: name };
  if (target.version >= 4) return { type: "file", mediaType, data, ...named };
  if (data.type === "url")
    return target.version === 3
      ? { type: mediaType.startsWith("image/") ? "image-url" : "file-url", url: data.url.href }
      : { type: "text", text: note(part, "not shown") };
  if (target.version === 2) return { type: "media", data: data.data as string, mediaType };
  const image = mediaType.startsWith("image/");
  return {
    type: image ? "image-data" : "file-data",
    data: data.data as string,
    mediaType,
    ...(image ? {} : named),
  };
}

function filePart(part: FilePart, target: PromptTarget): PromptFile | PromptText {
  const data = fileData(part, target);
  if (data.type === "text") return data;
  const bare = data.type === "url" ? data.url : data.data;
  return {
    type: "file",
    mediaType: part.mediaType,
    data: target.version >= 4 ? data : bare,
    ...(part.name === undefined ? {} : { filename: part.name }),
  };
}

/** The bytes or the URL of a file; a text note if it cannot be sent. */
function fileData(
  part: FilePart,
  target: PromptTarget,
): Extract<FileData, { type: "data" | "url" | "text" }> {
  if (typeof part.data === "string") return { type: "data", data: part.data };
  const inline = /^data:[^,]*;base64,(.*)$/s.exec(part.url ?? "");
  if (inline !== null) return { type: "data", data: inline[1] ?? "" };
  if (part.url !== undefined && URL.canParse(part.url)) {
    if (target.fetches(part.mediaType, part.url)) return { type: "url", url: new URL(part.url) };
    target.warn(
      "unsupported_file",
      `${target.origin.model} does not fetch ${note(part, "left out")}: give its bytes instead`,
    );
    return { type: "text", text: note(part, "not shown") };
  }
  target.warn("file_not_loaded", `the bytes of ${note(part, "left out")} are still in the blob store`);
  return { type: "text", text: note(part, "not shown") };
}

function note({ name, mediaType, url }: FilePart, why: string): string {
  return `[${[name, mediaType, url?.startsWith("data:") ? undefined : url].filter((word) => word !== undefined).join(", ")}: ${why}]`;
}
