// The room of Anthropic's stop reasons: what each word means by itself.

import type { StopKind } from "@rondo/core";
import { stopIn } from "../foreign-stops.ts";

/** Wire word to kind. A word that is not here is another protocol's, or `unknown`. */
export const anthropicStops: { readonly [word: string]: StopKind } = {
  end_turn: "end_turn",
  tool_use: "tool_use",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  pause_turn: "pause",
  // The provider has summed up what was before, as it was asked to, and goes on when it gets its summary back.
  compaction: "pause",
  refusal: "refusal",
  // Compatible servers' word for the same.
  sensitive: "content_filter",
  model_context_window_exceeded: "context_overflow",
};

export const anthropicStop = (word: string): StopKind => stopIn(anthropicStops, word);
