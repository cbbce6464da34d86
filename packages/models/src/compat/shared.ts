// The room of what several vendors' servers, or models wherever they are served, have in common.

import type { CompatibleServer } from "./server.ts";

type OfModels = NonNullable<CompatibleServer["models"]>[number];

/** Fields that only OpenAI and its closest relatives accept; the others refuse or ignore them. */
export const openaiOnly: string[] = [
  "store",
  "metadata",
  "safety_identifier",
  "prompt_cache_retention",
  "prompt_cache_options",
  "moderation",
  "verbosity",
  "prediction",
  "web_search_options",
  "modalities",
  "audio",
];
/** Those of them that a server does not accept, which accepts the others. */
export const openaiOnlyBut = (...accepted: readonly string[]): string[] =>
  openaiOnly.filter((field) => !accepted.includes(field));
export const penalties: string[] = ["frequency_penalty", "presence_penalty"];

/** Models that OpenAI calls reasoning models: they have the role developer, not system. */
export const developer: OfModels = { match: /^(?:o\d|gpt-[5-9])/i, compat: { systemRole: "developer" } };
/** gpt-oss, wherever it is served: its channels leak where the server's parser fails, and it always reasons. */
export const gptOss: OfModels = {
  match: /gpt-oss/i,
  compat: { harmony: true, efforts: ["low", "medium", "high"] },
};
/** Wherever it is served, it writes its thinking in tags of its own. */
export const nova: OfModels = {
  match: /\bnova-(?:\d-)?(?:micro|lite|pro|premier)\b/i,
  compat: { thinkTags: "nova" },
};
