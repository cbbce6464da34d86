// The room of the incoming prompt: the AI SDK's conversation as our messages.
//
// Every form that versions 3 and 4 write is read. The origin and opaque data that `toAiSdk` sent with a part come back with
// it. A call gets exactly one result, right after its answer, whatever the prompt's author did.

import {
  type AssistantMessage,
  base64,
  type ContentPart,
  closeOpenCalls,
  type FilePart,
  isBytes,
  isSameOrigin,
  type Json,
  type JsonObject,
  type Message,
  type Origin,
  type Part,
  type TextPart,
  type ToolMessage,
} from "@rondo/core";
import { objectIn } from "../json-values.ts";
import { asRecord, text } from "./finish-and-usage.ts";
import { type Carried, carried } from "./provider-metadata.ts";
import type { AssistantPart, PromptMessage, PromptResult } from "./spec.ts";

/** The origin of an answer that does not name one: nobody's, so that no opaque data is sent back. */
const nobody: Origin = { api: "ai-sdk", provider: "unknown", model: "unknown" };

/** System messages at the start are the system prompt; others stay where they are. */
export function readPrompt(prompt: readonly PromptMessage[]): {
  system?: string;
  messages: readonly Message[];
} {
  const first = prompt.findIndex(({ role }) => role !== "system");
  const start = first === -1 ? prompt.length : first;
  const system = prompt
    .slice(0, start)
    .map(({ content }) => content as string)
    .join("\n\n");
  const messages = closeOpenCalls(prompt.slice(start).flatMap(readMessage));
  return { messages, ...(system === "" ? {} : { system }) };
}

function readMessage(message: PromptMessage): Message[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: [{ type: "text", text: message.content }] }];
    case "user":
      return [{ role: "user", content: message.content.map(userPart) }];
    case "assistant":
      return [readAnswer(message.content)];
    case "tool":
      // Approvals of tools that a provider runs are not ours to give.
      return message.content.flatMap((part) =>
        part.type === "tool-result" ? [resultMessage(part as PromptResult)] : [],
      );
  }
}

function userPart(part: { type: string }): ContentPart {
  return part.type === "file" ? filePart(part) : { type: "text", text: text(asRecord(part).text) };
}

function readAnswer(content: readonly AssistantPart[]): AssistantMessage {
  const told = content.map((part) => ({ part, kept: carried(part.providerOptions) }));
  const origin = told.find(({ kept }) => kept.origin !== undefined)?.kept.origin ?? nobody;
  if (told.every(({ kept }) => kept.at !== undefined))
    told.sort((a, b) => (a.kept.at ?? 0) - (b.kept.at ?? 0));
  const parts = told.flatMap(({ part, kept }) =>
    // A message has one origin: opaque data of another origin is left out.
    answerPart(part, kept.origin === undefined || isSameOrigin(kept.origin, origin) ? kept : {}),
  );
  const calls = parts.some(({ type }) => type === "tool_call");
  const kind = calls ? "tool_use" : "end_turn";
  return { role: "assistant", content: parts, origin, stop: { kind, wire: kind } };
}

function answerPart(part: AssistantPart, kept: Carried): Part[] {
  const opaque = kept.opaque === undefined ? {} : { opaque: kept.opaque };
  switch (part.type) {
    case "text":
      return kept.part === "refusal"
        ? [{ type: "refusal", text: part.text }]
        : [{ type: "text", text: part.text, ...opaque }];
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...opaque }];
    case "file":
      return [{ ...filePart(part), ...opaque }];
    case "tool-call": {
      // The provider's own call and its result mean nothing to another provider: both are left out.
      if (part.providerExecuted === true) return [];
      const { args, argsError } = argsOf(part.input);
      const rawArgs = typeof part.input === "string" ? part.input : JSON.stringify(part.input ?? {});
      const fault = argsError === undefined ? {} : { argsError };
      return [
        { type: "tool_call", id: part.toolCallId, name: part.toolName, args, rawArgs, ...fault, ...opaque },
      ];
    }
    case "custom":
      return kept.part === "native" && kept.opaque !== undefined
        ? [{ type: "native", kind: kept.kind ?? "unknown", opaque: kept.opaque }]
        : [];
    default:
      return [];
  }
}

function argsOf(input: unknown): { args: JsonObject; argsError?: string } {
  const args = objectIn(input);
  if (args !== undefined) return { args };
  if (input === undefined || input === null || input === "") return { args: {} };
  return { args: {}, argsError: "the arguments are no JSON object" };
}

function resultMessage({ toolCallId, toolName, output }: PromptResult): ToolMessage {
  const isError =
    output.type === "error-text" || output.type === "error-json" || output.type === "execution-denied";
  return { role: "tool", callId: toolCallId, name: toolName, content: outputParts(output), isError };
}

function outputParts(output: PromptResult["output"]): ContentPart[] {
  switch (output.type) {
    case "text":
    case "error-text":
      return [words(output.value)];
    case "json":
    case "error-json":
      return [words(JSON.stringify(output.value))];
    case "execution-denied":
      return [words(`The call was denied.${output.reason === undefined ? "" : ` ${output.reason}`}`)];
    case "content":
      return output.value.map((part) => {
        if (part.type === "text") return words(part.text ?? "");
        if (part.data !== undefined || part.url !== undefined)
          return filePart({ mediaType: part.type.startsWith("image-") ? "image/*" : unknownType, ...part });
        return words(`[${part.type}: not shown]`);
      });
  }
}

const unknownType = "application/octet-stream";

/** A file in any of its forms: tagged data, base64, bytes, a URL. Text stays text. */
function filePart(part: unknown): FilePart | TextPart {
  const { mediaType, filename, data, url } = asRecord(part);
  const tagged = asRecord(data);
  if (tagged.type === "text") return words(text(tagged.text));
  const bare: unknown =
    tagged.type === "data" ? tagged.data : tagged.type === "url" ? tagged.url : (data ?? url);
  const named = typeof filename === "string" ? { name: filename } : {};
  const file = { type: "file" as const, mediaType: wholeType(text(mediaType)), ...named };
  if (isBytes(bare)) return { ...file, data: base64(bare) };
  if (bare instanceof URL) return { ...file, url: bare.href };
  if (typeof bare === "string") return data === undefined ? { ...file, url: bare } : { ...file, data: bare };
  return words(`[${[filename, mediaType].filter(Boolean).join(", ")}: not shown]`);
}

/** Version 4 allows only the main type, or `image/*`. Providers that check bytes get the most common type. */
function wholeType(mediaType: string): string {
  const top = mediaType.replace(/\/\*$/, "");
  if (top.includes("/")) return top;
  const common: { readonly [top: string]: string } = {
    image: "image/png",
    audio: "audio/wav",
    text: "text/plain",
  };
  return common[top] ?? unknownType;
}

const words = (value: Json): TextPart => ({
  type: "text",
  text: typeof value === "string" ? value : JSON.stringify(value),
});
