// The room of names: `provider/model`, as a person types it, becomes a model. Only the named provider is loaded.

import { type Model, RondoError } from "@rondo/core";
import { nearest, ownMember } from "@rondo/core/checks";
import { compatibleServers } from "../compat/choose.ts";
import { type Environment, fromEnvironment, processEnvironment } from "../credentials.ts";
import type { ProviderOptions } from "../model-options.ts";
import { knownProviders, type ownProviders, providerAliases } from "./names.ts";

type Maker = (model: string, options: ProviderOptions) => Promise<Model>;

const makers: { readonly [Provider in (typeof ownProviders)[number]]: Maker } = {
  anthropic: async (model, options) => (await import("./anthropic.ts")).anthropic(model, options),
  openai: async (model, options) => (await import("./openai.ts")).openai(model, options),
  "openai-chat": async (model, options) => (await import("./openai.ts")).openai.chat(model, options),
  google: async (model, options) => (await import("./google.ts")).google(model, options),
  vertex: async (model, options) => (await import("./vertex.ts")).vertex(model, options),
  bedrock: async (model, options) => (await import("./bedrock.ts")).bedrock(model, options),
  azure: async (model, options) => (await import("./azure.ts")).azure(model, options),
  ollama: async (model, options) => (await import("./ollama.ts")).ollama(model, options),
  llama: async (model, { facts }) => {
    if (!/\.gguf$/i.test(model))
      throw new RondoError(
        "invalid_request",
        `llama/ takes the path of a GGUF file, but ${JSON.stringify(model)} is not one; a model of Ollama is ollama/${model}`,
      );
    return (await import("../llama/llama.ts")).llama({
      modelPath: model,
      ...(facts === undefined ? {} : { facts }),
    });
  },
  llamacpp: async (model, options) => (await import("./local.ts")).localModel("llamacpp", model, options),
  lmstudio: async (model, options) => (await import("./local.ts")).localModel("lmstudio", model, options),
  vllm: async (model, options) => (await import("./local.ts")).localModel("vllm", model, options),
};

/** How the names of models begin, for users who leave the provider out. */
const families: readonly (readonly [RegExp, string])[] = [
  [/^claude/i, "anthropic"],
  [/^(?:gpt|o\d|chatgpt|codex)/i, "openai"],
  [/^gemini/i, "google"],
  [/^grok/i, "xai"],
  [/^deepseek/i, "deepseek"],
  [/^kimi/i, "moonshot"],
  [/^glm/i, "zai"],
  [/^minimax/i, "minimax"],
  [/^qwen/i, "alibaba"],
  [/^mimo/i, "xiaomi"],
  [/^sonar/i, "perplexity"],
  [/^(?:mistral|magistral|codestral|devstral)/i, "mistral"],
];

/**
 * The model with a name like `anthropic/claude-sonnet-5`, `ollama/qwen3` or `openrouter/deepseek/deepseek-v3.2`. The
 * provider's name ends at the first slash. `<PROVIDER>_BASE_URL`, e.g. `OPENAI_BASE_URL`, overrides its address. Keys are
 * looked up at the first call, not here.
 * @throws RondoError `invalid_request` listing the known names
 */
export async function modelFromName(
  name: string,
  env: Environment = processEnvironment(),
  options: ProviderOptions = {},
): Promise<Model> {
  if (typeof name !== "string")
    throw new RondoError(
      "invalid_request",
      `modelFromName takes a text like "anthropic/claude-sonnet-5", not ${JSON.stringify(name)}`,
    );
  const slash = name.indexOf("/");
  const given = slash === -1 ? "" : name.slice(0, slash).toLowerCase();
  const model = name.slice(slash + 1).trim();
  const provider = ownMember(providerAliases, given) ?? given;
  const maker = ownMember<Maker>(makers, provider);
  if (model === "" || (maker === undefined && !Object.hasOwn(compatibleServers, provider)))
    throw unknownName(name, model, provider);
  const host =
    provider === "ollama" && env.OLLAMA_HOST ? (await import("./ollama.ts")).ollamaURL(env) : undefined;
  const moved = fromEnvironment(env, addressVariables(provider)) ?? host;
  const all: ProviderOptions = { ...(moved ? { baseURL: moved } : {}), ...options };
  if (maker !== undefined) return await maker(model, all);
  const { openaiCompatible } = await import("./compatible.ts");
  const keyVariables = compatibleServers[provider]?.keyVariables ?? [];
  return openaiCompatible({ ...all, provider, model, keyVariables });
}

/** The environment variables that may hold a provider's address. OpenAI's two protocols share theirs, as they share the key. */
const addressVariables = (provider: string): string[] => [
  `${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_BASE_URL`,
  ...(provider === "openai-chat" ? ["OPENAI_BASE_URL"] : []),
];

const isKnown = (provider: string): boolean =>
  [providerAliases, makers, compatibleServers].some((names) => Object.hasOwn(names, provider));

function unknownName(name: string, model: string, provider: string): RondoError {
  const known = knownProviders().join(", ");
  const alone = (provider === "" ? model : provider).replace(/:$/, "").toLowerCase();
  if ((provider === "" || model === "") && isKnown(alone))
    return new RondoError(
      "invalid_request",
      `${JSON.stringify(name)} names a provider and no model of it: write ${ownMember(providerAliases, alone) ?? alone}/MODEL`,
    );
  if (model === "")
    return new RondoError(
      "invalid_request",
      `${JSON.stringify(name)} names no model: write provider/model, e.g. anthropic/claude-sonnet-5. Supported providers: ${known}`,
    );
  if (provider !== "") {
    const [meant] = nearest(provider, knownProviders(), 1);
    const hint = meant === undefined ? "" : `. Did you mean ${meant}/${model}?`;
    return new RondoError(
      "invalid_request",
      `Unknown provider: ${provider}. Supported providers: ${known}${hint}`,
    );
  }
  // Other libraries separate them with a colon: anthropic:claude-sonnet-5.
  const [start = "", ...rest] = model.split(":");
  const parted = isKnown(start.toLowerCase()) ? `${start.toLowerCase()}/${rest.join(":")}` : undefined;
  const family = families.find(([start]) => start.test(model))?.[1];
  const meant = parted ?? (family === undefined ? undefined : `${family}/${model}`);
  const guess = meant === undefined ? "" : ` Did you mean ${meant}?`;
  return new RondoError(
    "invalid_request",
    `${JSON.stringify(name)} names no provider: write provider/model.${guess} Supported providers: ${known}`,
  );
}
