// The room of providers' names: those before the slash in `provider/model`, and what else people call them.
//
// No model is made here, so that whoever makes one can ask what the others are called.

import { compatibleServers, serverAliases } from "../compat/choose.ts";

/** Providers with a function of their own; `openai-chat` is OpenAI under its other protocol. */
export const ownProviders = [
  "anthropic",
  "openai",
  "openai-chat",
  "google",
  "vertex",
  "bedrock",
  "azure",
  "ollama",
  "llama",
  "llamacpp",
  "lmstudio",
  "vllm",
] as const;

/** Names people use for a provider known under another. */
export const providerAliases: { readonly [name: string]: string } = {
  claude: "anthropic",
  gemini: "google",
  "google-vertex": "vertex",
  "amazon-bedrock": "bedrock",
  ...serverAliases,
};

/** Every provider that `modelFromName` knows. */
export function knownProviders(): string[] {
  return [...new Set([...ownProviders, ...Object.keys(compatibleServers)])].sort();
}
