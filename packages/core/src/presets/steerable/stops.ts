// The room of the steerable preset's stop words: why an answer ended, in that system's six words.
//
// They are only shown. The loop decides by the content of an answer; only an error or an abort ends the run whatever the
// content is.

import type { Stop, StopKind } from "../../message.ts";

/** Why an answer ended. `unknown`: an unknown stop word, which is in `stop.raw`. */
export type SteerableStop = "stop" | "toolUse" | "length" | "error" | "aborted" | "unknown";

const words: { readonly [kind in StopKind]: SteerableStop } = {
  end_turn: "stop",
  stop_sequence: "stop",
  // A paused answer ends here. If it should be resumed, set `pauseResumes`.
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

/** The word for an answer's end, from the provider's own stop word, unless the answer broke off. */
export function steerableStop(stop: Stop): SteerableStop {
  return words[stop.kind === "error" || stop.kind === "aborted" ? stop.kind : stop.wire];
}
