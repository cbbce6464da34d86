// The room of the answer by tool: a call of the output tool, read as the text it stands for.
//
// The translation happens at the model's edge, deltas and all, so that neither the loop nor a history ever sees a
// call that is none: it would need a result, and another provider would be shown a tool that does not exist.

import type { AssistantMessage, Part } from "../message.ts";
import { type Model, type ModelEvent, type ModelRequest, modelFace, type ToolDefinition } from "../model.ts";
import { isWrapped, outputToolOf } from "./ways.ts";

/** The model, whose call of the request's output tool is its answer; the model itself where there is no such tool. */
export function answeringByTool(model: Model, request: ModelRequest): Model {
  const tool = outputToolOf(request.tools);
  if (tool === undefined) return model;
  return {
    ...modelFace(model),
    call: async (asked, io) =>
      answerOf(await model.call(asked, { ...io, emit: (event) => io.emit(heard(event, tool)) }), tool),
  };
}

function heard(event: ModelEvent, tool: ToolDefinition): ModelEvent {
  if (event.type !== "tool_args_delta" || event.name !== tool.name) return event;
  const { index, delta } = event;
  return isWrapped(tool) ? { type: "progress" } : { type: "text_delta", index, text: delta };
}

function answerOf(message: AssistantMessage, tool: ToolDefinition): AssistantMessage {
  const isAnswer = (part: Part): boolean => part.type === "tool_call" && part.name === tool.name;
  // What is no message is said to be none by whoever asked.
  if (!Array.isArray(message?.content) || !message.content.some(isAnswer)) return message;
  const content = message.content.map((part): Part => {
    if (part.type === "tool_call" && part.name === tool.name)
      return { type: "text", text: isWrapped(tool) ? unwrapped(part) : part.rawArgs };
    // Signed reasoning belongs to the call it led to; before a text it would be refused.
    return part.type === "reasoning" ? { type: "reasoning", text: part.text } : part;
  });
  const calls = content.some((part) => part.type === "tool_call");
  const { stop } = message;
  const ended = <Kind extends AssistantMessage["stop"]["kind"]>(kind: Kind): Kind | "end_turn" =>
    kind === "tool_use" && !calls ? "end_turn" : kind;
  return { ...message, content, stop: { ...stop, kind: ended(stop.kind), wire: ended(stop.wire) } };
}

function unwrapped(part: Part & { type: "tool_call" }): string {
  return part.argsError === undefined && "value" in part.args
    ? JSON.stringify(part.args.value)
    : part.rawArgs;
}
