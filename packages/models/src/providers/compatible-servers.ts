// The room of known servers that speak Chat Completions: a row each. Addresses, keys and quirks are facts, not code.

import type { Json } from "@rondo/core";

export interface CompatibleServer {
  baseURL: string;
  /** The first one set is the key. Empty: the server wants none. */
  keyVariables: readonly string[];
  /** How it differs from OpenAI's own API: see `OpenaiChatCompat`. */
  compat: { readonly [quirk: string]: Json };
}

const oldLimit = { maxTokensField: "max_tokens" };
const local = { ...oldLimit, systemFirstOnly: true, maxTools: 0, topK: true };

export const compatibleServers: { readonly [provider: string]: CompatibleServer } = {
  deepseek: {
    baseURL: "https://api.deepseek.com/v1",
    keyVariables: ["DEEPSEEK_API_KEY"],
    // A tool turn without its reasoning is refused (F104).
    compat: {
      ...oldLimit,
      echoReasoning: "reasoning_content",
      reasoningFill: "",
      structuredOutput: "json_object",
      reasoningParam: "thinking",
    },
  },
  mistral: {
    baseURL: "https://api.mistral.ai/v1",
    keyVariables: ["MISTRAL_API_KEY"],
    // Unknown fields are refused; ids are nine characters; no user message after a tool's.
    compat: {
      ...oldLimit,
      idForm: "mistral9",
      seedField: "random_seed",
      toolChoiceAny: "any",
      bridgeToolUser: true,
      noAssistantLast: true,
      streamUsage: false,
      reasoningParam: "none",
    },
  },
  xai: {
    baseURL: "https://api.x.ai/v1",
    keyVariables: ["XAI_API_KEY"],
    compat: { omit: ["presence_penalty", "frequency_penalty"] },
  },
  groq: { baseURL: "https://api.groq.com/openai/v1", keyVariables: ["GROQ_API_KEY"], compat: {} },
  cerebras: { baseURL: "https://api.cerebras.ai/v1", keyVariables: ["CEREBRAS_API_KEY"], compat: {} },
  together: {
    baseURL: "https://api.together.xyz/v1",
    keyVariables: ["TOGETHER_API_KEY"],
    compat: { ...oldLimit, topK: true },
  },
  fireworks: {
    baseURL: "https://api.fireworks.ai/inference/v1",
    keyVariables: ["FIREWORKS_API_KEY"],
    compat: { ...oldLimit, topK: true },
  },
  openrouter: {
    baseURL: "https://openrouter.ai/api/v1",
    keyVariables: ["OPENROUTER_API_KEY"],
    compat: {
      ...oldLimit,
      topK: true,
      echoReasoning: "reasoning_details",
      reasoningParam: "reasoning",
      options: ["provider", "models", "transforms", "plugins", "route"],
    },
  },
  zai: {
    baseURL: "https://api.z.ai/api/paas/v4",
    keyVariables: ["ZAI_API_KEY", "ZHIPU_API_KEY"],
    compat: {
      ...oldLimit,
      echoReasoning: "reasoning_content",
      structuredOutput: "json_object",
      reasoningParam: "thinking",
    },
  },
  moonshot: {
    baseURL: "https://api.moonshot.ai/v1",
    keyVariables: ["MOONSHOT_API_KEY", "KIMI_API_KEY"],
    compat: {
      ...oldLimit,
      echoReasoning: "reasoning_content",
      reasoningFill: "",
      reasoningParam: "thinking",
    },
  },
  ollama: { baseURL: "http://127.0.0.1:11434/v1", keyVariables: [], compat: local },
  vllm: { baseURL: "http://127.0.0.1:8000/v1", keyVariables: [], compat: local },
  llamacpp: { baseURL: "http://127.0.0.1:8080/v1", keyVariables: [], compat: local },
  lmstudio: { baseURL: "http://127.0.0.1:1234/v1", keyVariables: [], compat: local },
};
