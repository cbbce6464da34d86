// The room of the answer at the model's edge: turns a call of the output tool, or an object around the value, into text.
//
// The conversion happens here, including deltas, so that neither the loop nor a history ever sees that call (it would need a
// result, and another provider would see a tool that does not exist) or that object. What the model says next to the call
// is not part of the answer, though it may contain a draft of it: it is kept as reasoning.

import type { AssistantMessage, Part, ToolCallPart } from "../message.ts";
import {
  isAnswerLike,
  type Model,
  type ModelEvent,
  type ModelRequest,
  modelFace,
  type ToolDefinition,
} from "../model.ts";
import { outputToolOf } from "./ways.ts";
import { isWrapped, Unwrapping, unwrappedText } from "./wrapped.ts";

/** The model, wrapped so that its answer is the value as text; the model itself if it answers so anyway. */
export function answeringInText(model: Model, request: ModelRequest): Model {
  const tool = outputToolOf(request.tools);
  const wrapped = isWrapped(tool?.inputSchema ?? request.outputSchema);
  if (tool === undefined && !wrapped) return model;
  const others = request.tools.filter((one) => one !== tool).map(({ name }) => name);
  const texts = new Map<number, Unwrapping>();
  let first: number | undefined;
  const heard = (event: ModelEvent): ModelEvent => {
    if (event.type === "tool_args_delta" && event.name === tool?.name) {
      first ??= event.index;
      if (event.index !== first) return { type: "progress" };
    }
    const delta = textOf(event, tool);
    if (delta === undefined) return event;
    const { index, text } = delta;
    if (!wrapped) return { type: "text_delta", index, text };
    const unwrapping = texts.get(index) ?? new Unwrapping();
    texts.set(index, unwrapping);
    const certain = unwrapping.push(text);
    return certain === "" ? { type: "progress" } : { type: "text_delta", index, text: certain };
  };
  return {
    ...modelFace(model),
    call: async (asked, io) => {
      const message = await model.call(asked, { ...io, emit: (event) => io.emit(heard(event)) });
      return answerOf(message, answerName(message, tool, others), wrapped);
    },
  };
}

/** The piece of the answer that an event carries. */
function textOf(
  event: ModelEvent,
  tool: ToolDefinition | undefined,
): { index: number; text: string } | undefined {
  if (event.type === "text_delta") return event;
  if (tool === undefined || event.type !== "tool_args_delta" || event.name !== tool.name) return undefined;
  return { index: event.index, text: event.delta };
}

/**
 * The name by which the model called the output tool. The tool choice left it no other: so the only call of an answer, by a
 * name that no tool has, is meant for it. It is not told as text while it streams, when it might not be the only one.
 */
function answerName(
  message: AssistantMessage,
  tool: ToolDefinition | undefined,
  others: readonly string[],
): string | undefined {
  if (tool === undefined || !isAnswerLike(message)) return undefined;
  const [first, ...more] = message.content.filter((part): part is ToolCallPart => part.type === "tool_call");
  const isMeant = first !== undefined && more.length === 0 && !others.includes(first.name);
  return isMeant ? first.name : tool.name;
}

function answerOf(message: AssistantMessage, called: string | undefined, wrapped: boolean): AssistantMessage {
  if (!isAnswerLike(message)) return message;
  const bare = (text: string): string => (wrapped ? unwrappedText(text) : text);
  const isAnswer = (part: Part): part is ToolCallPart => part.type === "tool_call" && part.name === called;
  // A model that answers in text all the same was shown the object, too.
  if (!message.content.some(isAnswer)) {
    const content = message.content.map(
      (part): Part => (part.type === "text" ? { ...part, text: bare(part.text) } : part),
    );
    return { ...message, content };
  }
  const first = message.content.find(isAnswer);
  const content = message.content.flatMap((part): Part[] => {
    // There is one answer: what is called after it is left out (F231).
    if (isAnswer(part)) return part === first ? [{ type: "text", text: bare(part.rawArgs) }] : [];
    // Signed reasoning belongs to the call it led to; before a text it would be refused.
    const isThought = part.type === "reasoning" || part.type === "text";
    return [isThought ? { type: "reasoning", text: part.text } : part];
  });
  const calls = content.some((part) => part.type === "tool_call");
  const { stop } = message;
  const ended = <Kind extends AssistantMessage["stop"]["kind"]>(kind: Kind): Kind | "end_turn" =>
    kind === "tool_use" && !calls ? "end_turn" : kind;
  return { ...message, content, stop: { ...stop, kind: ended(stop.kind), wire: ended(stop.wire) } };
}
