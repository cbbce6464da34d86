// The room of requests in tests: short words for messages, and encoders that check what they made against the servers' rules.

import type {
  AssistantMessage,
  Json,
  JsonObject,
  Message,
  ModelRequest,
  Part,
  ToolDefinition,
} from "@rondo/core";
import { checkOpenaiChatRequest, checkOpenaiResponsesRequest } from "@rondo/testkit";
import { expect } from "vitest";
import type { Target } from "../../src/codec.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { chatOrigin, responsesOrigin } from "./conversations.ts";

export type Loose = { [member: string]: Json };

export const chat = (compat: JsonObject = {}, more: Partial<Target> = {}): Target => ({
  origin: chatOrigin,
  facts: {},
  compat,
  ...more,
});
export const responses = (compat: JsonObject = {}, more: Partial<Target> = {}): Target => ({
  origin: responsesOrigin,
  facts: {},
  compat,
  ...more,
});

export const tools: ToolDefinition[] = [
  {
    name: "read_file",
    description: "Reads.",
    inputSchema: {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
      additionalProperties: false,
    },
  },
  { name: "a.b", description: "", inputSchema: { type: "object" } },
  { name: "a_b", description: "", inputSchema: {} },
  {
    name: "x".repeat(90),
    description: "",
    inputSchema: {
      anyOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: {} } }],
    },
  },
];

export function request(messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return { messages: messages as Message[], tools: [], toolChoice: "auto", settings: {}, ...more };
}

export const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
export const assistant = (content: Part[], origin = chatOrigin): AssistantMessage => ({
  role: "assistant",
  content,
  origin,
  stop: { kind: "end_turn", wire: "end_turn" },
});
export const call = (id: string, more: Partial<Part & { type: "tool_call" }> = {}): Part => ({
  type: "tool_call",
  id,
  name: "g",
  args: {},
  rawArgs: "{}",
  ...more,
});
export const result = (
  callId: string,
  content: Message["content"] = [{ type: "text", text: "ok" }],
): Message => ({
  role: "tool",
  callId,
  name: "g",
  isError: false,
  content: content as [],
});
export const image: Part = { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" };

export function chatBody(
  messages: readonly Message[],
  compat: JsonObject = {},
  more: Partial<ModelRequest> = {},
): Loose & { messages: Loose[] } {
  const { body } = openaiChat.encoder(chat(compat)).encode(request(messages, more));
  const rules = { mistral: compat.idForm === "mistral9", videos: compat.videos === "video_url" };
  expect(checkOpenaiChatRequest(body, rules)).toEqual([]);
  return JSON.parse(body) as Loose & { messages: Loose[] };
}

export function responsesBody(
  messages: readonly Message[],
  more: Partial<ModelRequest> = {},
  compat: JsonObject = {},
): Loose & { input: Loose[] } {
  const { body } = openaiResponses.encoder(responses(compat)).encode(request(messages, more));
  expect(checkOpenaiResponsesRequest(body)).toEqual([]);
  return JSON.parse(body) as Loose & { input: Loose[] };
}
