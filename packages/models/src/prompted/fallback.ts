// The room of switching to the text protocol: a model that refuses tools gets them as text, from then on.
//
// Only the server knows which models have tools, and shows it by refusing (F145). That refusal is a fact about the model,
// learned once. It is not a retry: the first attempt could never have worked.
//
// Other servers accept tools but cannot parse their model's calls, which then appear as the answer's text. Such text never
// runs (F234), and is not an answer: it is malformed. A model that has not made a native call so far gets its tools as
// text.

import {
  type AssistantMessage,
  type Model,
  type ModelIo,
  type ModelRequest,
  modelFace,
  RondoError,
} from "@rondo/core";
import { phrases } from "../patterns.ts";
import { leakedCall, malformed } from "./leaked.ts";

/**
 * `native` until it refuses tools or its server turns out not to parse its calls; `prompted` from then on.
 * @param model whose id and origin the result bears
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
      // From now on its calls are expected in the text.
      return malformed(answer, leaked, `its server did not read a call of ${leaked}`);
    },
  };
}

/** The servers' own words, which are all they give: the status is that of any bad request. */
const words = phrases(
  /does not support tools/,
  /unsupported param(?:eter)?: [`'"]?tools\b/,
  /tools param requires --jinja/,
  /requires --enable-auto-tool-choice/,
  /tool call parser not given/,
  /(?:tool(?:s| use| call(?:s|ing)?)?|function call(?:s|ing)?) (?:is|are) not supported/,
  /(?:not|n't) support (?:tool|function)[ -]call(?:s|ing)\b/,
);

function refusesTools(thrown: unknown): boolean {
  if (!(thrown instanceof RondoError) || thrown.partial !== undefined) return false;
  if (thrown.kind !== "capability" && thrown.kind !== "server_error" && thrown.kind !== "invalid_request")
    return false;
  return words.test(`${thrown.message} ${JSON.stringify(thrown.raw ?? "")}`);
}
