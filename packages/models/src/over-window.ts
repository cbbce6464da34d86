// The room of prompts that were larger than the model's window, and were answered all the same (F185).
//
// The provider's own count says so. What it left out it does not say; the history is made smaller before the next request,
// and this answer is told as one that may have been given without all of it. Where the provider ran tools of its own, its
// count is the sum of what each round of that answer read, and says nothing of the window.

import { type AssistantMessage, countedWith, type ModelFacts, type ModelIo } from "@rondo/core";

/** Warns of an answer to more than the window holds. */
export function warnOverWindow(
  id: string,
  answer: AssistantMessage,
  facts: ModelFacts | undefined,
  io: Pick<ModelIo, "emit">,
): void {
  const read = answer.usage?.inputTokens;
  const window = facts?.contextWindow;
  if (read === undefined || window === undefined || read <= window) return;
  if (countedWith(answer) === undefined) return;
  const message = `${id} counted ${read} tokens of input in a window of ${window}: it may have left out some of the prompt without saying so. If the window is larger, say so in the model's facts (contextWindow)`;
  io.emit({ type: "warning", code: "context_overflow", message });
}
