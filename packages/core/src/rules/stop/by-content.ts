// The room of the continue rule: whether the run goes on, read from the content.
//
// Calls: settle them and ask again. None: this is the answer. The stop reason was heard before, by the rules for odd
// answers; alone it decides nothing, for half of the providers say "stop" over a call.

import type { Run } from "../../loop/state.ts";
import type { Rule } from "../rule.ts";

/** Continues exactly when the answer asks for a tool. */
export function byContent(): Rule {
  return {
    name: "by_content",
    version: 1,
    judge(_memory, state) {
      const { turn } = state.run as Run;
      // A failed call has no content to read.
      if (turn === undefined) return undefined;
      const calls = turn.calls.length;
      const evidence = { calls, stop: turn.message.stop.kind };
      return { follows: { do: calls > 0 ? "act" : "finish" }, evidence };
    },
  };
}
