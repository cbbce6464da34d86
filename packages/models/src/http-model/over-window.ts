// The room of prompts that were larger than the model's window, but were not refused (F185).
//
// Some servers cut such a prompt to the window, which leaves no room for an answer. Others end normally with an empty
// answer: that is a refusal, whatever they call it. Others answer without the part they left out.
//
// The reported usage shows it, but not what was left out. So the history is made smaller before the next request, and a
// warning says that this answer may lack some of it. If the provider ran tools of its own, its usage is the sum over all
// rounds and says nothing about the window.

import {
  type AssistantMessage,
  countedWith,
  type ModelFacts,
  type ModelIo,
  RondoError,
  textOf,
} from "@rondo/core";

/** The share from which a window counts as full: not every server's window is exactly as large as stated. */
const full = 0.99;

/** @throws RondoError `context_overflow` for an empty answer to a prompt that was cut to the window or exceeds it (F185) */
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

/** Warns about an answer to a prompt larger than the window. */
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
