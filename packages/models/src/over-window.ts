// The room of prompts that were larger than the model's window, and were not refused (F185).
//
// Some servers cut such a prompt to the window, which leaves no room for a word of an answer. Others end well and say nothing:
// that is a refusal, whatever they call it. Others answer, without what they left out.
//
// The provider's own count shows it, but not what was left out. So the history is made smaller before the next request, and
// this answer is told as one that may have been given without all of it. Where the provider ran tools of its own, its count is
// the sum of what each round of the answer read, and says nothing of the window.

import {
  type AssistantMessage,
  countedWith,
  type ModelFacts,
  type ModelIo,
  RondoError,
  textOf,
} from "@rondo/core";

/** A window is as good as full from here: not all count as its size is told. */
const full = 0.99;

/** @throws RondoError `context_overflow` where the prompt was cut to the window or goes beyond it, and not a word was said to it (F185) */
export function demandRoom(id: string, answer: AssistantMessage, facts: ModelFacts | undefined): void {
  const { content, stop, usage } = answer;
  const { contextWindow: window = Number.POSITIVE_INFINITY } = facts ?? {};
  if (usage === undefined || (usage.outputTokens ?? 0) > 0 || textOf(answer).trim() !== "") return;
  const read = usage.inputTokens ?? 0;
  const isCut = stop.kind === "max_tokens" && usage.outputTokens === 0 && read >= window * full;
  const isSilent = stop.kind === "end_turn" && read > window;
  if (!(isCut || isSilent) || content.some(({ type }) => type !== "text")) return;
  throw new RondoError("context_overflow", `the conversation leaves ${id} no room for an answer`, {
    usage,
    ...(stop.raw === undefined ? {} : { raw: { finish_reason: stop.raw } }),
  });
}

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
