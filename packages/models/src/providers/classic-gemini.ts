// The room of the classic Gemini: called as the Gemini client of the preset *think, act, observe* calls it.

import { type Model, RondoError } from "@rondo/core";
import type { GeminiCompat } from "../codecs/google/target.ts";
import type { Quirks } from "../codecs/shared-compat.ts";
import { fromEnvironment, processEnvironment } from "../credentials.ts";
import { createModel } from "../http-model.ts";
import type { ProviderOptions } from "../model-options.ts";
import { keyHeader } from "../request-head.ts";
import { googleClassic } from "./codecs.ts";

const keyVariable = "GEMINI_API_KEY";

export interface ClassicGeminiOptions extends Omit<ProviderOptions<Quirks<GeminiCompat>>, "stream"> {
  /** Default: `gemini-2.5-flash`. */
  model?: string;
}

/**
 * A Gemini that answers without streaming: the last text, the calls, and `tool_use` or `end_turn` depending on whether
 * there are calls. Results are sent as `{ result }`. Use `google` unless you need exactly this behaviour.
 * @throws RondoError `auth` at once when there is no key
 */
export function classicGemini(options: ClassicGeminiOptions = {}): Model {
  const { model = "gemini-2.5-flash", apiKey, ...rest } = options;
  const key = apiKey?.trim() || fromEnvironment(processEnvironment(), [keyVariable]);
  if (key === undefined && rest.credentials === undefined)
    throw new RondoError(
      "auth",
      `${keyVariable} is required. Set it as an environment variable or pass it to the constructor.`,
    );
  return createModel({
    ...rest,
    codec: googleClassic,
    provider: "google",
    model,
    stream: false,
    defaults: { compat: { resultKey: "result", callIds: "never" } },
    baseURL: rest.baseURL ?? "https://generativelanguage.googleapis.com",
    authorize: keyHeader("x-goog-api-key"),
    keyVariables: [keyVariable],
    ...(key === undefined ? {} : { apiKey: key }),
  });
}
