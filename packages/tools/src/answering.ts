// The room of answering: turns a refusal into a tool result.
//
// A refusal is something the model can act on (a missing file, a path outside the root), so it becomes an error result
// in plain words. Anything else that is thrown is a bug of ours, and is left to the loop.

import { type ToolContext, type ToolResult, toolResult } from "@rondo/core";
import { Refusal, reasonOf } from "./reasons.ts";

/**
 * Runs a tool's work about `subject`, and turns a `Refusal` or a file system error into an error result.
 * @throws the signal's reason when it was aborted: an aborted call has no result
 */
export async function answering(
  context: ToolContext,
  subject: string,
  work: () => Promise<ToolResult>,
): Promise<ToolResult> {
  context.signal.throwIfAborted();
  try {
    return await work();
  } catch (thrown) {
    context.signal.throwIfAborted();
    const reason = thrown instanceof Refusal ? thrown.message : reasonOf(thrown, subject);
    if (reason === undefined) throw thrown;
    return toolResult(`Error: ${reason}`, { isError: true });
  }
}
