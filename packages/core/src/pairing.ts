// The room of pairing: every call has exactly one result, right behind its answer, in call order.
//
// What Rondo itself writes is always so. Histories from elsewhere are made so before they are used: results are moved
// to their calls, missing ones are answered, stray and double ones are left out. A history that is in order comes back
// as it is, by identity.

import type { AssistantMessage, Message, ToolMessage } from "./message.ts";
import { callsOf } from "./message.ts";

const missing = "There is no result for this call in the history; its outcome is unknown.";

/** The same conversation with every call answered once. */
export function closeOpenCalls(messages: readonly Message[]): readonly Message[] {
  if (isPaired(messages)) return messages;
  const results = new Map<string, ToolMessage[]>();
  for (const message of messages)
    if (message.role === "tool")
      results.set(message.callId, [...(results.get(message.callId) ?? []), message]);
  return messages.flatMap((message): Message[] => {
    if (message.role === "tool") return [];
    if (message.role !== "assistant") return [message];
    return [message, ...callsOf(message).map((call) => results.get(call.id)?.shift() ?? unanswered(call))];
  });
}

function unanswered(call: { id: string; name: string }): ToolMessage {
  const { id, name } = call;
  return { role: "tool", callId: id, name, content: [{ type: "text", text: missing }], isError: true };
}

/** Whether every call is answered once, right behind its answer, in call order, and nothing else is. */
export function isPaired(messages: Iterable<Message>): boolean {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (open.shift() !== message.callId) return false;
      continue;
    }
    if (open.length > 0) return false;
    if (message.role === "assistant") open = callsOf(message as AssistantMessage).map((call) => call.id);
  }
  return open.length === 0;
}
