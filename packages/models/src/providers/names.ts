// The room of providers' names: those before the slash in `provider/model`, and their aliases.
//
// No model is made here, so that code that makes one can ask for the names of the others.

import { compatibleServers, serverAliases } from "../compat/choose.ts";

/** Providers with a function of their own; `openai-chat` is OpenAI over Chat Completions. */
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

/** Aliases: other names people use for a provider. */
export const providerAliases: { readonly [name: string]: string } = {
  claude: "anthropic",
  gemini: "google",
  "google-vertex": "vertex",
  "amazon-bedrock": "bedrock",
  ...serverAliases,
};

/** Every provider name that `modelFromName` knows. */
export function knownProviders(): string[] {
  return [...new Set([...ownProviders, ...Object.keys(compatibleServers)])].sort();
}
