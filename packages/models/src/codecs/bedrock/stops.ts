// The room of Bedrock's stop reasons: what each word of Converse means by itself.

import type { StopKind } from "@rondo/core";
import { stopIn } from "../foreign-stops.ts";

/** Wire word to kind. A word that is not here is another protocol's, or `unknown`. */
export const bedrockStops: { readonly [word: string]: StopKind } = {
  end_turn: "end_turn",
  tool_use: "tool_use",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  guardrail_intervened: "content_filter",
  content_filtered: "content_filter",
  malformed_model_output: "malformed_call",
  malformed_tool_use: "malformed_call",
  model_context_window_exceeded: "context_overflow",
  // Words of Claude that may shine through.
  pause_turn: "pause",
  refusal: "refusal",
};

export const bedrockStop = (word: string): StopKind => stopIn(bedrockStops, word);
