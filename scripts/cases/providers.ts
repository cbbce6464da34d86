// The room of providers: the model for a case's provider or kind of server.

import type { JsonObject, Model, ModelFacts } from "@rondo/core";
import {
  anthropic,
  azure,
  bedrock,
  google,
  type HttpClient,
  ollama,
  openai,
  openaiCompatible,
  type ProviderOptions,
  promptedJson,
  vertex,
} from "@rondo/models";
import type { Protocol } from "./wire.ts";

export interface ModelWish {
  provider: string;
  model: string | undefined;
  baseURL: string;
  http: HttpClient;
  apiKey: string | undefined;
  facts: ModelFacts;
  /** Quirks of the server, on top of those in its table row. */
  compat: JsonObject;
  /** Tools are sent as text in the prompt. */
  prompted: boolean;
  /** False: answers come whole. */
  stream?: boolean;
}

/** Credentials for a case that names no key: another one after every refusal. */
export function renewing(): NonNullable<ProviderOptions["credentials"]> {
  let issued = 1;
  return ({ refresh }) => {
    if (refresh) issued += 1;
    return `case-key-${issued}`;
  };
}

export function protocolOf(provider: string): Protocol {
  switch (provider) {
    case "anthropic":
    case "vertex-anthropic":
      return "anthropic";
    case "gemini":
    case "google":
    case "vertex":
      return "google";
    case "bedrock":
      return "bedrock";
    case "openai-responses":
    case "azure-responses":
      return "openai-responses";
    case "ollama-native":
      return "ollama";
    default:
      return "openai-chat";
  }
}

/** The provider's name in the origin of messages. */
export function originProvider(provider: string): string {
  if (provider === "gemini") return "google";
  if (provider === "azure-responses") return "azure";
  if (provider === "ollama-native") return "ollama";
  return provider === "openai-chat" || provider === "openai-responses" || provider === "any"
    ? "openai"
    : provider;
}

export const apiOf: { readonly [protocol in Protocol]: string } = {
  anthropic: "anthropic-messages",
  "openai-chat": "openai-chat",
  "openai-responses": "openai-responses",
  google: "google-generative-ai",
  bedrock: "bedrock-converse",
  ollama: "ollama-chat",
};

export function defaultModel(protocol: Protocol): string {
  switch (protocol) {
    case "anthropic":
      return "claude-sonnet-4-5";
    case "google":
      return "gemini-3-pro-preview";
    case "bedrock":
      return "anthropic.claude-sonnet-4-5-20250929-v1:0";
    case "openai-responses":
      return "gpt-5";
    case "openai-chat":
    case "ollama":
      return "m";
  }
}

export function modelFor(wish: ModelWish): Model {
  const model = wireModel(wish);
  return wish.prompted ? promptedJson(model) : model;
}

function wireModel(wish: ModelWish): Model {
  const { provider, baseURL, http, apiKey, facts, compat, stream } = wish;
  const model = wish.model ?? defaultModel(protocolOf(provider));
  const options: ProviderOptions = {
    baseURL,
    http,
    facts,
    compat,
    ...(stream === undefined ? {} : { stream }),
    ...(apiKey === undefined ? { credentials: renewing() } : { apiKey }),
  };
  switch (provider) {
    case "anthropic":
      return anthropic(model, options);
    case "gemini":
    case "google":
      return google(model, options);
    case "vertex":
    case "vertex-anthropic":
      return vertex(model, { ...options, project: "p" });
    case "bedrock":
      return bedrock(model, options);
    case "ollama-native":
      return ollama(model, { ...options, toolProtocol: "native" });
    case "openai-responses":
      return openai(model, options);
    case "openai-chat":
    case "openai":
    case "any":
      return openai.chat(model, options);
    case "azure":
      return azure(model, { ...options, protocol: "chat" });
    case "azure-responses":
      return azure(model, options);
    default:
      return openaiCompatible({ ...options, provider, model });
  }
}
