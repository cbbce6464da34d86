// The room of Anthropic's stop reasons: what each means by itself.

import type { StopKind } from "@rondo/core";
import { stopIn } from "../foreign-stops.ts";

/** Stop reason to kind. One that is not here is another protocol's, or `unknown`. */
export const anthropicStops: { readonly [word: string]: StopKind } = {
  end_turn: "end_turn",
  tool_use: "tool_use",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  pause_turn: "pause",
  // The provider has summarised the earlier conversation, as requested, and continues when the summary is sent back.
  compaction: "pause",
  refusal: "refusal",
  // Compatible servers' word for a refusal by a filter.
  sensitive: "content_filter",
  model_context_window_exceeded: "context_overflow",
};

export const anthropicStop = (word: string): StopKind => stopIn(anthropicStops, word);
