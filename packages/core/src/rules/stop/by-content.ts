// The room of the continue rule: whether the run goes on, read from the content.
//
// Calls: settle them and ask again. None: this is the answer. The stop reason was heard before, by the rules for odd
// answers; alone it decides nothing, for half of the providers say "stop" over a call. Only an answer that its provider
// says went wrong, or was broken off, is neither an answer nor a wish for tools: what it holds may be half of something.

import type { ErrorData } from "../../errors.ts";
import { textOf } from "../../message.ts";
import type { Rule } from "../rule.ts";

/** Continues exactly when the answer asks for a tool. One that ended with an error or an abort ends the run at once. */
export function byContent(): Rule {
  return {
    name: "by_content",
    version: 3,
    judge(_memory, state) {
      const turn = state.run?.turn;
      // A failed call has no content to read.
      if (turn === undefined) return undefined;
      const calls = turn.calls.length;
      const { stop } = turn.message;
      const evidence = { calls, stop: stop.kind, ...(stop.raw === undefined ? {} : { raw: stop.raw }) };
      if (stop.kind !== "error" && stop.kind !== "aborted")
        return { follows: { do: calls > 0 ? "act" : "finish" }, evidence };
      const text = textOf(turn.message);
      const what = stop.kind === "error" ? "ended with an error" : "was broken off";
      const message = stop.detail ?? `the answer ${what} (${stop.raw ?? stop.wire})`;
      // The error is what tells it from an abort that somebody asked for.
      const error: ErrorData = { kind: "stream_error", message, retryable: false };
      if (stop.kind === "aborted")
        return {
          follows: { do: "stop", reason: "aborted", text, error },
          store: false,
          evidence: { ...evidence, reason: message },
        };
      return { follows: { do: "stop", reason: "error", text, error }, store: false, evidence };
    },
  };
}
