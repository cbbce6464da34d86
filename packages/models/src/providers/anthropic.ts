// The room of Anthropic's own API.

import type { Model } from "@rondo/core";
import type { AnthropicCompat } from "../codecs/anthropic/compat.ts";
import type { Quirks } from "../codecs/shared-compat.ts";
import { fromEnvironment, processEnvironment } from "../credentials.ts";
import { createModel } from "../http-model.ts";
import type { ProviderOptions } from "../model-options.ts";
import { keyHeader } from "../request-head.ts";
import { anthropicMessages } from "./codecs.ts";
import { claudeFacts } from "./in-place.ts";
import { leftInTexts, readAt } from "./left-in-texts.ts";
import { claudeOutput } from "./output.ts";

const keyVariables = ["ANTHROPIC_API_KEY"];

/**
 * A Claude at Anthropic, e.g. `anthropic("claude-sonnet-5")`. The key is `apiKey`, or `ANTHROPIC_API_KEY` at the time of
 * the call; a token of `ANTHROPIC_AUTH_TOKEN` is sent as a bearer.
 */
export function anthropic(model: string, options: ProviderOptions<Quirks<AnthropicCompat>> = {}): Model {
  const byKey = keyHeader("x-api-key");
  const baseURL = options.baseURL ?? "https://api.anthropic.com";
  const spoken = createModel({
    ...options,
    codec: anthropicMessages,
    output: claudeOutput,
    provider: "anthropic",
    model,
    baseURL,
    defaults: { compat: leftInTexts(baseURL), facts: claudeFacts(model) },
    authorize: byKey,
    keyVariables,
    environmentKey: () => {
      const env = processEnvironment();
      const apiKey = fromEnvironment(env, keyVariables);
      if (apiKey !== undefined) return { apiKey };
      const token = fromEnvironment(env, ["ANTHROPIC_AUTH_TOKEN"]);
      return token === undefined ? undefined : { headers: { authorization: `Bearer ${token}` } };
    },
  });
  return readAt(baseURL, spoken);
}
