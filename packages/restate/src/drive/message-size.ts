// The room of message sizes: what Restate takes in one message, and what replaces larger content.
//
// The server takes at most 32 MiB. Anything larger would be refused at every retry, forever: it is replaced by a typed
// failure where it arises, so that the run can continue, or end and say why.

import type { Fact } from "@rondo/core";
import { maxFactBytes } from "../wire.ts";

/** The limit for all facts of one step together: they are written again, with others, as records. */
export const maxFactsBytes: number = maxFactBytes;

/** The facts that fit into one step, with oversized ones replaced. The rest waits for the next step. */
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

/** The fact that replaces an oversized one. A fact is written together with others, so the limit is half a message. */
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
