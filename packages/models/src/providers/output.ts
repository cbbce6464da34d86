// The room of typed output, before the first call: whether a model can be held to a schema, as its codec will judge.
//
// Codecs are loaded late, and the loop must know before it asks: a schema that would be left out is asked for by a
// tool, or in words. What is told in the model's facts wins over all of this.

import type { ModelFacts } from "@rondo/core";
import type { Target } from "../codec.ts";
import { traitsOf } from "../codecs/anthropic/traits.ts";

export { googleOutput } from "../codecs/google/target.ts";

type Output = ModelFacts["output"];

/** A Claude, wherever it is, which wants its objects closed; other houses' models behind the same protocol cannot. */
export const claudeOutput = (target: Target): Pick<ModelFacts, "output" | "closedOutput"> =>
  traitsOf(target).output ? { output: "native", closedOutput: true } : { output: "none" };

/** Over Chat Completions, by the server's quirks. JSON without a schema is nothing to hold a model to. */
export function chatOutput({ compat = {} }: Target): Output {
  const { structuredOutput, structuredWithTools } = compat;
  if (structuredOutput === "none" || structuredOutput === "json_object") return "none";
  return structuredWithTools === false ? "native_without_tools" : undefined;
}
