// The room of a row's shape: what the table knows of one server.
//
// A row is data and holds no code: whatever a server needs that no column can say becomes a column first.

import type { ModelFacts } from "@rondo/core";
import type { OpenaiChatCompat } from "../codecs/openai-chat/compat.ts";

/** Servers that vendors run. */
export type HostedServer =
  | "openai"
  | "azure"
  | "deepseek"
  | "mistral"
  | "xai"
  | "groq"
  | "cerebras"
  | "together"
  | "fireworks"
  | "openrouter"
  | "zai"
  | "moonshot"
  | "minimax"
  | "alibaba"
  | "siliconflow"
  | "xiaomi"
  | "perplexity"
  | "huggingface"
  | "copilot";

/** Servers that users run. */
export type SelfHostedServer = "litellm" | "ollama" | "vllm" | "sglang" | "llamacpp" | "lmstudio";

export interface CompatibleServer {
  /** What people call it. */
  title: string;
  /** Where it is. Absent: every user has one of their own. */
  baseURL?: string;
  /** Hosts it is recognised by, themselves and what ends in `.host`, whatever the provider is called. */
  hosts: readonly string[];
  /** The first one set is the key. Empty: the server wants none. */
  keyVariables: readonly string[];
  /** Sent with every request; a user's own win. */
  headers?: Readonly<Record<string, string>>;
  /** How it differs from OpenAI's own API. */
  compat: Partial<OpenaiChatCompat>;
  /** What is known of all its models. */
  facts?: ModelFacts;
  /** Models of it that differ further. All that match are applied, in order. */
  models?: readonly { match: RegExp; compat: Partial<OpenaiChatCompat> }[];
  /** What else its answers do. The codec copes with it everywhere, so that it needs no column. */
  answers: string;
  /** What its errors look like. The transport reads them all. */
  errors: string;
}
