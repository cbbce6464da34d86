// The room of going over to the text protocol: a model that refuses tools is given them as text, from then on.
//
// Which models have tools is known only to their server, and it says so by refusing (F145). That refusal is an answer
// about the model, taken once. It is no retry: nothing was tried that could have worked.
//
// Other servers take the tools and cannot read their model's calls, which are then the answer's text. Such a text never
// runs (F234), and it is no answer: it is malformed. A model that has never called otherwise is given its tools as text.

import {
  type AssistantMessage,
  type Model,
  type ModelIo,
  type ModelRequest,
  modelFace,
  RondoError,
} from "@rondo/core";
import { leakedCall, malformed } from "./leaked.ts";

/**
 * `native` until it refuses tools or shows that its server cannot read its calls, `prompted` from then on.
 * @param model what the result is known as
 */
export function nativeOrPrompted(
  model: Pick<Model, "id" | "origin" | "facts">,
  native: Model,
  prompted: Model,
): Model {
  let toolless = false;
  let called = false;
  const goOver = (io: ModelIo, why: string): void => {
    toolless = true;
    io.emit({
      type: "warning",
      code: "text_protocol",
      message: `${model.id} ${why}: they are given to it as text from now on`,
    });
  };
  return {
    ...modelFace(model),
    async call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
      if (toolless) return await prompted.call(request, io);
      let answer: AssistantMessage;
      try {
        answer = await native.call(request, io);
      } catch (thrown) {
        if (request.tools.length === 0 || !refusesTools(thrown)) throw thrown;
        goOver(io, "has no tools of its own");
        return await prompted.call(request, io);
      }
      called ||= answer.content.some(({ type }) => type === "tool_call");
      const leaked = await leakedCall(answer, request);
      if (leaked === undefined) return answer;
      if (called) return malformed(answer, leaked);
      goOver(io, "calls tools in words that its server does not read");
      // Where its calls stand is right from now on.
      return malformed(answer, leaked, `its server did not read a call of ${leaked}`);
    },
  };
}

/** The servers' own words, which are all they give: the status is that of any bad request. */
const words =
  /does not support tools|unsupported param(?:eter)?: [`'"]?tools\b|tools param requires --jinja|requires --enable-auto-tool-choice|tool(?:s| use| calling)? (?:is|are) not supported/i;

function refusesTools(thrown: unknown): boolean {
  if (!(thrown instanceof RondoError) || thrown.partial !== undefined) return false;
  if (thrown.kind !== "capability" && thrown.kind !== "server_error" && thrown.kind !== "invalid_request")
    return false;
  return words.test(`${thrown.message} ${JSON.stringify(thrown.raw ?? "")}`);
}
