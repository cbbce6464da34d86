// The room of the planner's answers: a request in, calls or a text out.
//
// It keeps nothing between calls: the request contains the task, the tools and the results, and the same request gets the
// same answer.

import {
  type AssistantMessage,
  type ModelIo,
  type ModelRequest,
  type Part,
  RondoError,
  type ToolCallPart,
} from "@rondo/core";
import { answerJson, answerText } from "./answer.ts";
import { readConversation } from "./conversation.ts";
import { origin } from "./origin.ts";
import { planOf } from "./solve.ts";
import { type Step, Toolbox } from "./toolbox.ts";

/** Answers a request. @param bound the most tool calls that a task may make */
export function answerOf(request: ModelRequest, io: ModelIo, bound: number): AssistantMessage {
  mustRun(io);
  warn(request, io);
  const toolbox = new Toolbox(request.tools);
  const conversation = readConversation(request.messages);
  const plan = planOf(conversation, toolbox, { bound, toolsOff: request.toolChoice === "none" });
  mustRun(io);
  if ("steps" in plan) return calls(plan.steps, toolbox, request, io);
  const { goals, missed } = conversation.task;
  const text =
    request.outputSchema === undefined
      ? answerText(goals, plan.findings, toolbox, missed)
      : JSON.stringify(answerJson(request.outputSchema, goals, plan.findings));
  return speak(text, io);
}

function mustRun(io: ModelIo): void {
  if (io.signal.aborted)
    throw new RondoError("aborted", "the call of offline/planner was aborted", {
      retryable: false,
      cause: io.signal.reason,
    });
}

const meaningless = [
  "temperature",
  "topP",
  "topK",
  "frequencyPenalty",
  "presencePenalty",
  "stop",
  "maxOutputTokens",
  "reasoning",
] as const;

/** Warns about sampling and reasoning settings, which mean nothing to a planner. */
function warn(request: ModelRequest, io: ModelIo): void {
  const { settings } = request;
  const idle = meaningless.filter((name) => settings[name] !== undefined && settings[name] !== "off");
  if (idle.length > 0)
    io.emit({
      type: "warning",
      code: "unsupported_setting",
      message: `offline/planner is deterministic and ignores ${idle.join(", ")}`,
    });
}

function calls(
  steps: readonly Step[],
  toolbox: Toolbox,
  request: ModelRequest,
  io: ModelIo,
): AssistantMessage {
  const content: Part[] = [];
  const chosen = request.settings.parallelToolCalls === false ? steps.slice(0, 1) : steps;
  for (const step of chosen) {
    mustRun(io);
    const call = toolbox.call(step);
    if (call === undefined) continue;
    const index = content.length;
    // Unique in a session: the position in the history, the call's index, and a hash of the call.
    const id = `offline_${request.messages.length}_${index}_${hash(call.key)}`;
    const rawArgs = JSON.stringify(call.args);
    const part: ToolCallPart = { type: "tool_call", id, name: call.name, args: call.args, rawArgs };
    io.emit({ type: "tool_args_delta", index, id, name: call.name, delta: rawArgs });
    content.push(part);
  }
  return { role: "assistant", content, origin, stop: { kind: "tool_use", wire: "tool_use" } };
}

/** FNV-1a, enough to distinguish the calls of one history. */
function hash(text: string): string {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return sum.toString(36);
}

/** Streams a text word by word; after an abort between two words, the text so far is the partial answer. */
function speak(text: string, io: ModelIo): AssistantMessage {
  let said = "";
  for (const [piece] of text.matchAll(/\s*\S+\s?/g)) {
    if (io.signal.aborted) {
      const partial: AssistantMessage = {
        role: "assistant",
        content: said === "" ? [] : [{ type: "text", text: said }],
        origin,
        stop: { kind: "aborted", wire: "unknown" },
      };
      throw new RondoError("aborted", "the call of offline/planner was aborted", {
        retryable: false,
        cause: io.signal.reason,
        ...(said === "" ? {} : { partial }),
      });
    }
    io.emit({ type: "text_delta", index: 0, text: piece });
    said += piece;
  }
  if (said !== text && text.length > said.length)
    io.emit({ type: "text_delta", index: 0, text: text.slice(said.length) });
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    origin,
    stop: { kind: "end_turn", wire: "end_turn" },
  };
}
