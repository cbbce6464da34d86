// The room of message sizes: what Restate takes in one message, and what becomes of what is larger.
//
// The server takes at most 32 MiB. What is larger would be refused again at every attempt, for ever: it is turned into a
// typed failure where it arises, so that the run can go on or end and say why.

import type { Fact } from "@rondo/core";
import { maxFactBytes } from "../wire.ts";

/** The most that the facts of one step have together: they are written again, with others, as records. */
export const maxFactsBytes: number = maxFactBytes;

/** Facts as they fit into one step: none too large. What does not fit with the others waits for the next. */
export function fitting(facts: readonly Fact[]): Fact[] {
  const fit: Fact[] = [];
  let total = 0;
  for (const fact of facts) {
    const bytes = Buffer.byteLength(JSON.stringify(fact));
    const small = bytes > maxFactBytes ? tooLarge(fact, bytes) : fact;
    if (fit.length > 0 && total + bytes > maxFactsBytes) break;
    total += Math.min(bytes, maxFactBytes);
    fit.push(small);
  }
  return fit;
}

/** The fact that stands for one that is too large. A fact is written with others, so half a message is the bound. */
function tooLarge(fact: Fact, bytes: number): Fact {
  const why = `has ${bytes} bytes, and ${maxFactBytes} are the most that Restate is given`;
  if (fact.type === "tool_finished" || (fact.type === "reconciled" && fact.found === "done")) {
    const text = `Error: the result ${why}. Ask for less, or keep the whole text elsewhere (context.cap with blobs).`;
    const result = { content: [{ type: "text" as const, text }], isError: true, code: "threw" as const };
    return { ...fact, result };
  }
  if (fact.type === "model_finished")
    return {
      type: "model_failed",
      error: { kind: "payload_too_large", message: `the answer ${why}`, retryable: false },
    };
  const message = `a fact of type ${fact.type} ${why}`;
  return {
    type: "abort_asked",
    reason: message,
    error: { kind: "payload_too_large", message, retryable: false },
  };
}
