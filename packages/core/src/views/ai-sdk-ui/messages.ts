// The room of the shown conversation: a session's messages as a page shows them when it is loaded again.
//
// A page has one message for everything between two of the user's: its parts are the steps with their calls and results.
// A message of the user's has its number in the session as id, and the one after it that number as well: so both stay the same
// when the conversation goes on, and when what was before them is summed up.

import type { CallView } from "../../events.ts";
import type { Turn } from "../../loop/state.ts";
import type { Message, Part, ToolCallPart, ToolMessage } from "../../message.ts";
import type { Session } from "../../session.ts";
import { fileOf, outputOf, textIn } from "./parts.ts";
import type { UiMessage, UiPart } from "./shapes.ts";

/**
 * The conversation as `useChat({ id, messages })` takes it. Calls that wait for an approval have their buttons; a question is a part
 * `data-question` with the call's id.
 * @param options.clientTools names of the tools whose calls the page answers: they get no buttons. Default: none
 */
export function uiMessages(
  { messages, pending, state, status }: Session,
  options: { clientTools?: readonly string[] } = {},
): UiMessage[] {
  const asking = (call: CallView): UiPart[] => askingParts(call, options.clientTools ?? []);
  const shown: UiMessage[] = [];
  let said = state.said - messages.filter(({ role }) => role === "user").length;
  // An answer is not part of the conversation until all of its calls have results.
  const open = status === "idle" ? [] : turnOf(state.run?.turn);
  for (const message of [...messages, ...open]) {
    if (message.role === "user") {
      said += 1;
      shown.push({ id: `${said}`, role: "user", parts: message.content.map(fileOf) });
    } else if (message.role === "assistant") {
      const parts: UiPart[] = [
        { type: "step-start" },
        ...message.content.flatMap((part) => partsOf(part, pending, asking)),
      ];
      const last = shown.at(-1);
      if (last?.role === "assistant") last.parts.push(...parts);
      else shown.push({ id: answerId(said), role: "assistant", parts });
    } else if (message.role === "tool") answer(shown.at(-1)?.parts ?? [], message);
  }
  return shown;
}

/** The id of what follows a message of the user's. @param said that message's number in the session */
export const answerId = (said: number): string => `${said}.answer`;

function turnOf(turn: Turn | undefined): Message[] {
  if (turn === undefined) return [];
  const results = turn.calls.flatMap(({ id: callId, name, result }): Message[] =>
    result === undefined ? [] : [{ role: "tool", callId, name, ...result }],
  );
  return [turn.message, ...results];
}

function partsOf(part: Part, pending: readonly CallView[], asking: Asking): UiPart[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return [{ type: "text", text: part.text }];
    case "reasoning":
      return part.text === "" ? [] : [{ type: "reasoning", text: part.text }];
    case "file":
      return [fileOf(part)];
    case "tool_call":
      return waitingCall(part, pending, asking);
    case "native":
      return [];
  }
}

/** A call without its result, with all that waits inside it if it is a sub-agent. */
function waitingCall(
  { id, name, args: input }: ToolCallPart,
  pending: readonly CallView[],
  asking: Asking,
): UiPart[] {
  const own = pending.find((one) => one.id === id);
  if (own !== undefined) return asking(own);
  const inside = pending.filter((one) => one.child !== undefined && one.id.startsWith(`${id}/`));
  return [
    { type: `tool-${name}`, toolCallId: id, input, state: "input-available" },
    ...inside.flatMap(asking),
  ];
}

type Asking = (call: CallView) => UiPart[];

function askingParts(
  { id, name, args: input, question }: CallView,
  clientTools: readonly string[],
): UiPart[] {
  const call = { type: `tool-${name}`, toolCallId: id, input } as const;
  const given: UiPart = { ...call, state: "input-available" };
  if (question !== undefined) return [given, { type: "data-question", id, data: question.asked }];
  if (clientTools.includes(name)) return [given];
  return [{ ...call, state: "approval-requested", approval: { id } }];
}

function answer(parts: UiPart[], { callId, content, isError, details }: ToolMessage): void {
  const at = parts.findIndex((part) => "toolCallId" in part && part.toolCallId === callId);
  const call = parts[at];
  if (call === undefined || !("toolCallId" in call)) return;
  const { type, toolCallId, input } = call;
  parts[at] = isError
    ? { type, toolCallId, input, state: "output-error", errorText: textIn(content) }
    : { type, toolCallId, input, state: "output-available", output: outputOf(content, details) };
}
