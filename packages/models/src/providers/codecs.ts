// The room of the codecs by name: each one's protocol is known at once, its code is loaded on the first call.

import type { LazyCodec } from "../model-options.ts";

export const anthropicMessages: LazyCodec = {
  api: "anthropic-messages",
  load: async () => (await import("../codecs/anthropic-messages.ts")).anthropicMessages,
};

export const anthropicOnVertex: LazyCodec = {
  api: "anthropic-messages",
  load: async () => (await import("../codecs/anthropic-messages.ts")).anthropicOnVertex,
};

export const openaiChat: LazyCodec = {
  api: "openai-chat",
  load: async () => (await import("../codecs/openai-chat.ts")).openaiChat,
};

export const openaiResponses: LazyCodec = {
  api: "openai-responses",
  load: async () => (await import("../codecs/openai-responses.ts")).openaiResponses,
};

export const googleGenerativeAi: LazyCodec = {
  api: "google-generative-ai",
  load: async () => (await import("../codecs/google-generative-ai.ts")).googleGenerativeAi,
};

export const googleClassic: LazyCodec = {
  api: "google-generative-ai",
  load: async () => (await import("../codecs/google-classic.ts")).googleClassic,
};

export const bedrockConverse: LazyCodec = {
  api: "bedrock-converse",
  load: async () => (await import("../codecs/bedrock-converse.ts")).bedrockConverse,
};

export const ollamaChat: LazyCodec = {
  api: "ollama-chat",
  load: async () => (await import("../codecs/ollama-chat.ts")).ollamaChat,
};
