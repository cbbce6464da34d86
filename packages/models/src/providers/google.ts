// The room of Google's Gemini API. The key goes into a header, never into the URL, where logs would keep it.

import type { Model } from "@rondo/core";
import type { GeminiCompat } from "../codecs/google/target.ts";
import type { Quirks } from "../codecs/shared-compat.ts";
import { createModel } from "../http-model.ts";
import type { ProviderOptions } from "../model-options.ts";
import { keyHeader } from "../request-head.ts";
import { googleGenerativeAi } from "./codecs.ts";
import { keyIn } from "./environment-key.ts";
import { leftInTexts, readAt } from "./left-in-texts.ts";
import { googleOutput } from "./output.ts";

/** A Gemini, e.g. `google("gemini-3.8-flash")`. The key is `apiKey`, or `GEMINI_API_KEY` at the time of the call. */
export function google(model: string, options: ProviderOptions<Quirks<GeminiCompat>> = {}): Model {
  const baseURL = options.baseURL ?? "https://generativelanguage.googleapis.com";
  const spoken = createModel({
    ...options,
    codec: googleGenerativeAi,
    output: googleOutput,
    provider: "google",
    model,
    baseURL,
    defaults: { compat: leftInTexts(baseURL) },
    authorize: keyHeader("x-goog-api-key"),
    ...keyIn(["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"]),
  });
  return readAt(baseURL, spoken);
}
