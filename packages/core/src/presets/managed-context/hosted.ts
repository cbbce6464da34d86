// The room of hosted tools: tools that the provider runs itself, as settings of every request that may use tools.
//
// They are among the provider's own options, where nothing else knows that they are tools. So a request without tools, such
// as the last one of a run at its limit, must be sent without them here.

import type { JsonObject } from "../../message.ts";
import { type Model, type ModelRequest, modelFace, type Settings } from "../../model.ts";

/** The settings, with the hosted tools added. */
export function hostedSettings(
  { origin }: Model,
  settings: Settings | undefined,
  hostedTools: readonly JsonObject[] = [],
): Settings | undefined {
  if (hostedTools.length === 0) return settings;
  const { provider } = origin;
  const others = settings?.providerOptions ?? {};
  return {
    ...settings,
    providerOptions: { ...others, [provider]: { ...others[provider], tools: [...hostedTools] } },
  };
}

/** The same model; a request that has no tools and may call none is also sent without hosted tools. */
export function withoutHosted(model: Model): Model {
  return {
    ...modelFace(model),
    call: (request, io) =>
      model.call(
        request.tools.length === 0 && request.toolChoice === "none"
          ? stripped(request, model.origin.provider)
          : request,
        io,
      ),
  };
}

function stripped(request: ModelRequest, provider: string): ModelRequest {
  const { providerOptions: all = {}, ...settings } = request.settings;
  const { [provider]: own = {}, ...others } = all;
  const { tools: _hosted, ...rest } = own;
  const kept = Object.keys(rest).length === 0 ? others : { ...others, [provider]: rest };
  return {
    ...request,
    settings: { ...settings, ...(Object.keys(kept).length === 0 ? {} : { providerOptions: kept }) },
  };
}
