// The room of outputs that a server took for thinking.
//
// A server that holds an output to a schema from its first token on lets the model think nothing, while its parser takes all
// that comes before the end of a thought for one: the value is in the reasoning, and there is no text. It would be the same
// with every other request.

import { type AssistantMessage, type ModelIo, type ModelRequest, textOf } from "@rondo/core";
import { parseJson } from "../json-values.ts";

/** The answer; if its reasoning is nothing but the value that was asked for, with that as its text. */
export function withOutputAsText(
  answer: AssistantMessage,
  { outputSchema }: ModelRequest,
  io: Pick<ModelIo, "emit">,
): AssistantMessage {
  const { content, stop } = answer;
  if (outputSchema === undefined || stop.kind !== "end_turn" || textOf(answer).trim() !== "") return answer;
  if (content.some(({ type }) => type !== "reasoning" && type !== "text")) return answer;
  const text = content.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
  if (!/^\s*[{[]/.test(text) || parseJson(text) === undefined) return answer;
  const message = "the output was in the reasoning, and there was no text: it was taken from there";
  io.emit({ type: "warning", code: "output_in_reasoning", message });
  io.emit({ type: "text_delta", index: content.length, text });
  return { ...answer, content: [...content, { type: "text", text }] };
}
