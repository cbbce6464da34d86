// The room of typed output before the first call: whether a model's output can be constrained to a schema.
//
// Codecs are loaded late, but the loop must know before the request: output whose schema the codec would leave out is
// requested through a tool, or in the prompt. So this must agree with the codec. The model's facts win over all of this.

import type { ModelFacts } from "@rondo/core";
import type { Target } from "../codec.ts";
import { traitsOf } from "../codecs/anthropic/traits.ts";

export { googleOutput } from "../codecs/google/target.ts";

type Output = ModelFacts["output"];

/**
 * Claude on any provider supports schemas, whose objects must be closed. Other vendors' models behind the same protocol do
 * not.
 */
export const claudeOutput = (target: Target): Pick<ModelFacts, "output" | "closedOutput"> =>
  traitsOf(target).output ? { output: "native", closedOutput: true } : { output: "none" };

/** For Chat Completions it depends on the server's quirks. A JSON mode without a schema does not count. */
export function chatOutput({ compat = {} }: Target): Output {
  const { structuredOutput, structuredWithTools } = compat;
  if (structuredOutput === "none" || structuredOutput === "json_object") return "none";
  return structuredWithTools === false ? "native_without_tools" : undefined;
}
