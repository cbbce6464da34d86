// The room of Bedrock's stop reasons: what each means by itself in Converse.

import type { StopKind } from "@rondo/core";
import { stopIn } from "../foreign-stops.ts";

/** Stop reason to kind. One that is not here is another protocol's, or `unknown`. */
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
  // Claude's own words, which may be passed through.
  pause_turn: "pause",
  refusal: "refusal",
};

export const bedrockStop = (word: string): StopKind => stopIn(bedrockStops, word);
