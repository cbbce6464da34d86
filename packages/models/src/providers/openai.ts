// The room of OpenAI's own API: Responses unless Chat Completions is asked for.

import type { Model } from "@rondo/core";
import type { ChatQuirks } from "../codecs/openai-chat/compat.ts";
import type { ResponsesCompat } from "../codecs/openai-responses/compat.ts";
import type { Quirks } from "../codecs/shared-compat.ts";
import { chooseServer, compatOf } from "../compat/choose.ts";
import { createModel } from "../http-model.ts";
import type { LazyCodec, ProviderOptions } from "../model-options.ts";
import { openaiChat, openaiResponses } from "./codecs.ts";
import { keyIn } from "./environment-key.ts";
import { gptFacts } from "./in-place.ts";
import { isVendors, leftInTexts, readAt } from "./left-in-texts.ts";
import { chatOutput } from "./output.ts";

/** @typeParam Compat the quirks of the protocol */
export interface OpenaiOptions<Compat = Quirks<ResponsesCompat> | ChatQuirks>
  extends ProviderOptions<Compat> {
  organization?: string;
  project?: string;
}

export interface OpenaiProvider {
  /** Over the Responses protocol, which keeps reasoning between steps. */
  (model: string, options?: OpenaiOptions<Quirks<ResponsesCompat>>): Model;
  /** Over the older Chat Completions protocol. */
  chat(model: string, options?: OpenaiOptions<ChatQuirks>): Model;
}

/** A model at OpenAI, e.g. `openai("gpt-5.2")`. The key is `apiKey`, or `OPENAI_API_KEY` at the time of the call. */
export const openai: OpenaiProvider = Object.assign(
  (model: string, options: OpenaiOptions = {}): Model => over(openaiResponses, model, options),
  { chat: (model: string, options: OpenaiOptions = {}): Model => over(openaiChat, model, options) },
);

function over(codec: LazyCodec, model: string, options: OpenaiOptions): Model {
  const { organization, project, ...rest } = options;
  const baseURL = rest.baseURL ?? "https://api.openai.com/v1";
  // Compatible servers are often used by pointing OpenAI's base URL at them: such a server has the quirks of its row.
  const own = codec === openaiChat ? compatOf(chooseServer("openai", baseURL).server, model) : {};
  const spoken = createModel({
    ...rest,
    codec,
    ...(codec === openaiChat ? { output: chatOutput } : {}),
    provider: "openai",
    model,
    baseURL,
    defaults: {
      ...(codec === openaiChat ? {} : { facts: gptFacts(model) }),
      compat: {
        ...(isVendors(baseURL) ? { affinity: "prompt_cache_key" } : {}),
        ...leftInTexts(baseURL),
        ...own,
      },
      headers: {
        ...(organization === undefined ? {} : { "openai-organization": organization }),
        ...(project === undefined ? {} : { "openai-project": project }),
      },
    },
    ...keyIn(["OPENAI_API_KEY"]),
  });
  return readAt(baseURL, spoken);
}
