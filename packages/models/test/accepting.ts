// The room of what providers accept: a conversation in, what each provider would refuse in its request out.

import type { Json, Message, ModelRequest, ToolDefinition } from "@rondo/core";
import { checkAnthropicRequest } from "../../testkit/src/wire/rules/anthropic.ts";
import { checkBedrockRequest } from "../../testkit/src/wire/rules/bedrock.ts";
import { checkGoogleRequest } from "../../testkit/src/wire/rules/google.ts";
import { checkOpenaiChatRequest } from "../../testkit/src/wire/rules/openai-chat.ts";
import { checkOpenaiResponsesRequest } from "../../testkit/src/wire/rules/openai-responses.ts";
import type { Codec } from "../src/codec.ts";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../src/codecs/google-generative-ai.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiResponses } from "../src/codecs/openai-responses.ts";

export interface Provider {
  codec: Codec;
  model: string;
  compat?: { [quirk: string]: Json };
  check(body: string): readonly unknown[];
}

export const providers: { readonly [name: string]: Provider } = {
  anthropic: {
    codec: anthropicMessages,
    model: "claude-sonnet-5",
    check: (body) => checkAnthropicRequest(JSON.parse(body)),
  },
  bedrock: {
    codec: bedrockConverse,
    model: "anthropic.claude-sonnet-4",
    check: (body) => checkBedrockRequest(JSON.parse(body)),
  },
  google: {
    codec: googleGenerativeAi,
    model: "gemini-3-pro",
    check: (body) => checkGoogleRequest(body, { needsSignatures: true }),
  },
  openai: { codec: openaiChat, model: "m", check: (body) => checkOpenaiChatRequest(body) },
  mistral: {
    codec: openaiChat,
    model: "m",
    compat: { idForm: "mistral9", bridgeToolUser: true, noAssistantLast: true },
    check: (body) => checkOpenaiChatRequest(body, { mistral: true }),
  },
  responses: { codec: openaiResponses, model: "m", check: (body) => checkOpenaiResponsesRequest(body) },
};

const look: ToolDefinition = {
  name: "look",
  description: "Looks.",
  inputSchema: { type: "object", properties: { at: { type: "string" } } },
};

/** The body of a request. */
export function bodyOf(name: string, request: ModelRequest): string {
  const { codec, model, compat } = providers[name] as Provider;
  const origin = { api: codec.api, provider: name, model };
  const target = { origin, facts: {}, ...(compat === undefined ? {} : { compat }) };
  return codec.encoder(target).encode(request).body;
}

/** What a provider would refuse in a request. */
export const problemsIn = (name: string, request: ModelRequest): readonly unknown[] =>
  (providers[name] as Provider).check(bodyOf(name, request));

/** The request for a conversation. */
export const requestFor = (messages: readonly Message[], tools: ToolDefinition[] = [look]): ModelRequest => ({
  messages,
  tools,
  toolChoice: "auto",
  settings: {},
});
