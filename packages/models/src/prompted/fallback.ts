// The room of going over to the text protocol: a model that refuses tools is given them as text, from then on.
//
// Which models have tools is known only to their server, and it says so by refusing (F145). That refusal is an answer
// about the model, taken once. It is no retry: nothing was tried that could have worked.

import {
  type AssistantMessage,
  type Model,
  type ModelIo,
  type ModelRequest,
  modelFace,
  RondoError,
} from "@rondo/core";

/**
 * `native` until it refuses tools, `prompted` from then on.
 * @param model what the result is known as
 */
export function nativeOrPrompted(
  model: Pick<Model, "id" | "origin" | "facts">,
  native: Model,
  prompted: Model,
): Model {
  let toolless = false;
  return {
    ...modelFace(model),
    async call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
      if (toolless) return await prompted.call(request, io);
      try {
        return await native.call(request, io);
      } catch (thrown) {
        if (request.tools.length === 0 || !refusesTools(thrown)) throw thrown;
        toolless = true;
        io.emit({
          type: "warning",
          code: "text_protocol",
          message: `${model.id} has no tools of its own: they are given to it as text from now on`,
        });
        return await prompted.call(request, io);
      }
    },
  };
}

/** The servers' own words, which are all they give: the status is that of any bad request. */
const words =
  /does not support tools|tools param requires --jinja|requires --enable-auto-tool-choice|tool(?:s| use| calling)? (?:is|are) not supported/i;

function refusesTools(thrown: unknown): boolean {
  if (!(thrown instanceof RondoError) || thrown.partial !== undefined) return false;
  if (thrown.kind !== "capability" && thrown.kind !== "server_error" && thrown.kind !== "invalid_request")
    return false;
  return words.test(`${thrown.message} ${JSON.stringify(thrown.raw ?? "")}`);
}
