// The room of a row's shape: what the table knows of one server.
//
// A row is data and holds no code: if no column can express what a server needs, it becomes a column first.

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
  /** Its name, for display. */
  title: string;
  /** Its address. Absent: every user has one of their own. */
  baseURL?: string;
  /** Hosts by which it is recognised, including their subdomains, whatever the provider is called. */
  hosts: readonly string[];
  /** Environment variables for its key; the first one set counts. Empty: the server needs no key. */
  keyVariables: readonly string[];
  /** Sent with every request; a user's own headers win. */
  headers?: Readonly<Record<string, string>>;
  /** How it differs from OpenAI's own API. */
  compat: Partial<OpenaiChatCompat>;
  /** What is known of all its models. */
  facts?: ModelFacts;
  /** Models that differ further. All that match are applied, in order. */
  models?: readonly { match: RegExp; compat: Partial<OpenaiChatCompat>; facts?: ModelFacts }[];
  /** What else is special about its answers. The codec handles it for every server, so it needs no column. */
  answers: string;
  /** The form of its errors. The transport reads them all. */
  errors: string;
}
