// The room of the steerable preset's stop words: why an answer ended, in the six words that system has.
//
// They are for eyes: the loop goes by the content, and only an error or an abort ends it whatever the answer holds.

import type { Stop, StopKind } from "../../message.ts";

/** Why an answer ended, in few words. `unknown`: a word nobody has heard of; `stop.raw` has it. */
export type SteerableStop = "stop" | "toolUse" | "length" | "error" | "aborted" | "unknown";

const words: { readonly [kind in StopKind]: SteerableStop } = {
  end_turn: "stop",
  stop_sequence: "stop",
  // A paused answer is an end here: whoever wants it resumed sets `pauseResumes`.
  pause: "stop",
  tool_use: "toolUse",
  max_tokens: "length",
  context_overflow: "length",
  refusal: "error",
  content_filter: "error",
  malformed_call: "error",
  error: "error",
  aborted: "aborted",
  unknown: "unknown",
};

/** The word for an answer's end: what the provider's own word says, unless the answer broke off. */
export function steerableStop(stop: Stop): SteerableStop {
  return words[stop.kind === "error" || stop.kind === "aborted" ? stop.kind : stop.wire];
}
