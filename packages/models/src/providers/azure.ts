// The room of Azure OpenAI: OpenAI's protocols at a user's own resource; the model is the deployment's name.

import { type Model, RondoError } from "@rondo/core";
import { checkGiven, membersOf, oneOf, text } from "@rondo/core/checks";
import type { ChatQuirks } from "../codecs/openai-chat/compat.ts";
import type { ResponsesCompat } from "../codecs/openai-responses/compat.ts";
import type { Quirks } from "../codecs/shared-compat.ts";
import { compatibleServers, compatOf } from "../compat/choose.ts";
import { fromEnvironment, processEnvironment } from "../credentials.ts";
import { createModel } from "../http-model.ts";
import { modelText, type ProviderOptions } from "../model-options.ts";
import { bearer, keyHeader } from "../request-head.ts";
import { openaiChat, openaiResponses } from "./codecs.ts";
import { keyIn } from "./environment-key.ts";

export interface AzureOptions extends ProviderOptions<Quirks<ResponsesCompat> | ChatQuirks> {
  /** The resource's address, `https://NAME.openai.azure.com`, with or without `/openai/v1`. Default: `AZURE_OPENAI_ENDPOINT`. */
  endpoint?: string;
  /** Default: `responses`. */
  protocol?: "responses" | "chat";
}

const ownChecks = membersOf<Pick<AzureOptions, "endpoint" | "protocol">>({
  endpoint: text,
  protocol: oneOf("responses", "chat"),
});

/** A deployment on Azure, over its `v1` API. `apiKey` is the resource's key; for Entra ID tokens use `credentials`. */
export function azure(deployment: string, options: AzureOptions = {}): Model {
  const { endpoint, protocol = "responses", ...rest } = options;
  checkGiven(ownChecks, { endpoint, protocol }, modelText("azure", deployment));
  const resource = endpoint ?? fromEnvironment(processEnvironment(), ["AZURE_OPENAI_ENDPOINT"]);
  const baseURL =
    rest.baseURL ?? (resource && `${resource.replace(/\/*$|\/openai(?:\/v1)?\/*$/i, "")}/openai/v1`);
  if (!baseURL)
    throw new RondoError(
      "invalid_request",
      `${modelText("azure", deployment)} needs its resource: pass endpoint, or set AZURE_OPENAI_ENDPOINT`,
    );
  // A callback returns Entra ID tokens; an option or a variable holds the resource's key.
  const authorize = rest.credentials === undefined ? keyHeader("api-key") : bearer;
  const row = protocol === "chat" ? compatibleServers.azure : undefined;
  const own = row === undefined ? {} : compatOf(row, deployment);
  return createModel({
    ...rest,
    codec: protocol === "chat" ? openaiChat : openaiResponses,
    defaults: { compat: { affinity: "prompt_cache_key", ...own } },
    provider: "azure",
    model: deployment,
    baseURL,
    authorize,
    ...keyIn(["AZURE_OPENAI_API_KEY"]),
  });
}
