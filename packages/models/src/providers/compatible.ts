// The room of every other server that speaks Chat Completions: hosted, self-hosted, on this machine.

import { type Model, RondoError } from "@rondo/core";
import { fromEnvironment, processEnvironment } from "../credentials.ts";
import { createModel, type ProviderOptions } from "../provider.ts";
import { openaiChat } from "./codecs.ts";
import { compatibleServers } from "./compatible-servers.ts";

export interface CompatibleOptions extends ProviderOptions {
  model: string;
  /**
   * A known server (`groq`, `mistral`, `ollama`, …: see `compatibleServers`) lends its address, key variable and quirks;
   * any other name needs `baseURL`. Default: `compatible`.
   */
  provider?: string;
  /** Environment variables to look for a key in. Default: the known server's; none is needed for an unknown one. */
  keyVariables?: readonly string[];
}

/**
 * A model behind Chat Completions, e.g. `openaiCompatible({ provider: "groq", model: "llama-3.3-70b-versatile" })` or
 * `openaiCompatible({ baseURL: "http://127.0.0.1:8000/v1", model: "qwen3" })`.
 */
export function openaiCompatible(options: CompatibleOptions): Model {
  const { provider = "compatible", model, keyVariables: ownVariables, ...rest } = options;
  const known = Object.hasOwn(compatibleServers, provider) ? compatibleServers[provider] : undefined;
  const baseURL = rest.baseURL ?? known?.baseURL;
  if (baseURL === undefined)
    throw new RondoError(
      "invalid_request",
      `${provider}/${model} needs a baseURL: only ${Object.keys(compatibleServers).join(", ")} are known by name`,
    );
  const keyVariables = ownVariables ?? known?.keyVariables ?? [];
  return createModel({
    ...rest,
    codec: openaiChat,
    provider,
    model,
    baseURL,
    compat: { ...known?.compat, ...rest.compat },
    keyVariables,
    // A server at an address of the user's own may want no key, whatever its name.
    keyless: keyVariables.length === 0 || (rest.baseURL !== undefined && ownVariables === undefined),
    environmentKey: () => {
      const apiKey = fromEnvironment(processEnvironment(), keyVariables);
      return apiKey === undefined ? undefined : { apiKey };
    },
  });
}
