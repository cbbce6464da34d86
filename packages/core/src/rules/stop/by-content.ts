// The room of the continue rule: the content of an answer decides whether the run continues.
//
// With calls: settle them and ask again. Without: this is the final answer. The stop reason was handled before, by the rules
// for unusual answers; it decides nothing here, because many providers say "stop" for an answer with calls. Only an answer
// that its provider reports as failed or broken off ends the run, because it may be incomplete.

import type { ErrorData } from "../../errors.ts";
import { answerTextOf } from "../../message.ts";
import type { Rule } from "../rule.ts";

/** Continues if and only if the answer has calls. An answer that ended with an error or an abort ends the run at once. */
export function byContent(): Rule {
  return {
    name: "by_content",
    version: 3,
    judge(_memory, state) {
      const turn = state.run?.turn;
      // A failed model call has no content.
      if (turn === undefined) return undefined;
      const calls = turn.calls.length;
      const { stop } = turn.message;
      const evidence = { calls, stop: stop.kind, ...(stop.raw === undefined ? {} : { raw: stop.raw }) };
      if (stop.kind !== "error" && stop.kind !== "aborted")
        return { follows: { do: calls > 0 ? "act" : "finish" }, evidence };
      const text = answerTextOf(turn.message);
      const what = stop.kind === "error" ? "ended with an error" : "was broken off";
      const message = stop.detail ?? `the answer ${what} (${stop.raw ?? stop.wire})`;
      // The error tells it from an abort by the user.
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
