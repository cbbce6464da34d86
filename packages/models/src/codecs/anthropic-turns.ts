// The room of turns: a history in the order the Anthropic family of protocols wants it.
//
// Each assistant message is followed at once by one result for each of its calls, in call order; whatever a person
// said in between comes after. A call nobody answered gets an error result, a result nobody asked for is left out:
// the session's own rules prevent both, and a request must be valid even where they were broken.

import type { AssistantMessage, MessageList, SystemMessage, ToolMessage, UserMessage } from "@rondo/core";
import { callsOf } from "@rondo/core";

export interface Answered {
  /** The call's id on the wire, unique in the request. */
  id: string;
  call: ReturnType<typeof callsOf>[number];
  /** Absent: nobody answered. */
  result?: ToolMessage;
}

export type Turn =
  | { kind: "user"; message: UserMessage | SystemMessage }
  | { kind: "assistant"; message: AssistantMessage; calls: Answered[] }
  | { kind: "results"; message: AssistantMessage; calls: Answered[] };

export interface Turns {
  /** System messages before everything else. */
  lead: SystemMessage[];
  turns: Turn[];
  warnings: { code: string; message: string }[];
}

/** What the model reads where a call has no result. */
export const noResult = "No result of this call was recorded. Whether it took effect is unknown.";

/**
 * @param wireId an id as this protocol allows it; must be a pure function
 * @param leftOut assistant messages that are not replayed, with their results
 */
export function turnsOf(
  messages: MessageList,
  wireId: (id: string) => string,
  leftOut: (message: AssistantMessage) => boolean,
): Turns {
  const lead: SystemMessage[] = [];
  const turns: Turn[] = [];
  const warnings: Turns["warnings"] = [];
  const used = new Set<string>();
  let open = new Map<string, Answered>();
  const forgotten = new Set<string>();
  for (const message of messages) {
    switch (message.role) {
      case "system":
        if (turns.length === 0) lead.push(message);
        else turns.push({ kind: "user", message });
        break;
      case "user":
        turns.push({ kind: "user", message });
        break;
      case "assistant": {
        const found = callsOf(message);
        open = new Map();
        if (leftOut(message)) {
          for (const call of found) forgotten.add(call.id);
          break;
        }
        const calls = found.map((call): Answered => ({ id: unused(wireId(call.id), used), call }));
        for (const answered of calls) open.set(answered.call.id, answered);
        turns.push({ kind: "assistant", message, calls });
        if (calls.length > 0) turns.push({ kind: "results", message, calls });
        break;
      }
      case "tool": {
        const asked = open.get(message.callId);
        if (asked !== undefined && asked.result === undefined) asked.result = message;
        else if (!forgotten.has(message.callId))
          warnings.push({
            code: asked === undefined ? "orphan_result" : "second_result",
            message:
              asked === undefined
                ? `the result of call ${message.callId} (${message.name}) was left out: the message before it asks for no such call`
                : `a second result of call ${message.callId} (${message.name}) was left out`,
          });
      }
    }
  }
  return { lead, turns, warnings };
}

/** Histories from elsewhere repeat ids; the wire wants each once. */
function unused(id: string, used: Set<string>): string {
  let free = id;
  for (let n = 2; used.has(free); n++) free = `${id.slice(0, 56)}_r${n}`;
  used.add(free);
  return free;
}
