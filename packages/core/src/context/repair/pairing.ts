// The room of pairing: every call has exactly one result, directly after its answer, in call order.
//
// Histories that Rondo writes are always so. Those from elsewhere are repaired before they are used: results are moved to
// their calls and named after them, missing ones are added, stray and duplicate ones are left out, and a call id that was
// used before is replaced on both sides. A valid history is returned as it is, by identity.

import type { AssistantMessage, Message, Part, ToolCallPart, ToolMessage } from "../../message.ts";
import { callsOf } from "../../message.ts";

export interface Pairing {
  /** What the model reads if a call has no result. */
  missing: string;
  /** A call without a result gets the text `missing`, or is left out. */
  unanswered: "answer" | "drop";
  /**
   * For answers that ended with an error or an abort. `as_others`: like other answers. `answered`: calls with results are
   * kept, and no results are made up. `none`: their calls and results are left out.
   */
  failed: "as_others" | "answered" | "none";
  /** Makes an id valid, given those that are taken. */
  id(id: string, taken: ReadonlySet<string>): string;
}

/** What the model reads if a call has no result. */
export const missingResult: string =
  "There is no result for this call in the history; its outcome is unknown.";

/** The same conversation with exactly one result for each call, and nothing else changed. */
export function closeOpenCalls(messages: readonly Message[]): readonly Message[] {
  if (isPaired(messages)) return messages;
  return pairUp(messages, {
    missing: missingResult,
    unanswered: "answer",
    failed: "as_others",
    id: (id) => id,
  });
}

/** The same conversation with exactly one result for each call, and each call id as the rules require. */
export function pairUp(messages: readonly Message[], rules: Pairing): readonly Message[] {
  const results = resultsOf(messages);
  const taken = new Set<string>();
  const paired = messages.flatMap((message): Message[] => {
    if (message.role === "tool") return [];
    if (message.role !== "assistant") return [message];
    const ended = message.stop.kind === "error" || message.stop.kind === "aborted";
    const failed = ended && rules.failed !== "as_others";
    const renamed = new Map<ToolCallPart, ToolCallPart>();
    const answers: ToolMessage[] = [];
    for (const call of callsOf(message)) {
      const result = failed && rules.failed === "none" ? undefined : results.get(call);
      if (result === undefined && (failed || rules.unanswered === "drop")) continue;
      const id = rules.id(call.id, taken);
      taken.add(id);
      renamed.set(call, id === call.id ? call : { ...call, id });
      answers.push(answer(result, { id, name: call.name }, rules.missing));
    }
    const content = message.content.flatMap((part): Part[] => {
      const kept = part.type === "tool_call" ? renamed.get(part) : part;
      return kept === undefined ? [] : [kept];
    });
    return [sameItems(content, message.content) ? message : { ...message, content }, ...answers];
  });
  return sameItems(paired, messages) ? messages : paired;
}

/** The call of each result: the last call before it that has its id and no result yet, else the first one after it. */
function resultsOf(messages: readonly Message[]): Map<ToolCallPart, ToolMessage> {
  const results = new Map<ToolCallPart, ToolMessage>();
  const turns = new Map<string, ToolCallPart[]>();
  const early: ToolMessage[] = [];
  for (const message of messages) {
    if (message.role === "assistant") {
      const own = new Map<string, ToolCallPart[]>();
      for (const call of callsOf(message)) own.set(call.id, [...(own.get(call.id) ?? []), call]);
      for (const [id, calls] of own) {
        const waiting = calls.filter((call) => {
          const at = early.findIndex((result) => result.callId === id);
          if (at !== -1) results.set(call, early.splice(at, 1)[0] as ToolMessage);
          return at === -1;
        });
        turns.set(id, waiting);
      }
    } else if (message.role === "tool") {
      const waiting = turns.get(message.callId);
      const call = waiting?.shift();
      if (call !== undefined) results.set(call, message);
      else if (waiting === undefined) early.push(message);
    }
  }
  return results;
}

function answer(
  result: ToolMessage | undefined,
  call: { id: string; name: string },
  missing: string,
): ToolMessage {
  if (result === undefined)
    return {
      role: "tool",
      callId: call.id,
      name: call.name,
      content: [{ type: "text", text: missing }],
      isError: true,
    };
  // The call tells its tool: a result from elsewhere may name another, or none.
  const { id, name } = call;
  return result.callId === id && result.name === name ? result : { ...result, callId: id, name };
}

export function sameItems<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at]);
}

/** Whether every call has exactly one result, directly after its answer, in call order, and there are no other results. */
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
