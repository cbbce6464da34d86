// What the tests of compaction share: messages in short, and an estimator that counts characters.

import type {
  AssistantMessage,
  CompactionPlan,
  CompactionSettings,
  Ledger,
  Message,
  Part,
  ToolMessage,
} from "@rondo/core";
import { applyEdit, assemble, emptyLedger, userText } from "@rondo/core";

const origin = { api: "test", provider: "test", model: "m" };

export const user = userText;

export function system(text: string): Message {
  return { role: "system", content: [{ type: "text", text }] };
}

/** An answer: its text, and the ids of its calls of a tool `t`. */
export function answer(text: string, ...calls: string[]): AssistantMessage {
  const parts: Part[] = calls.map((id) => ({ type: "tool_call", id, name: "t", args: { id }, rawArgs: "" }));
  const kind = calls.length > 0 ? "tool_use" : "end_turn";
  return {
    role: "assistant",
    content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...parts],
    origin,
    stop: { kind, wire: kind },
  };
}

export function result(callId: string, text: string): ToolMessage {
  return { role: "tool", callId, name: "t", content: [{ type: "text", text }], isError: false };
}

/** A token for four characters of the message's JSON. */
export const quarter = (message: Message): number => Math.ceil(JSON.stringify(message.content).length / 4);

/** What a compaction makes of a history; undefined when it stays as it is. */
export function compacted(
  history: readonly Message[],
  plan: CompactionPlan,
  answers: readonly string[],
  settings: CompactionSettings,
  ledger: Ledger = emptyLedger,
): Message[] | undefined {
  // One answer stands for every call of a plan in stages.
  const all = answers.length === 1 ? Array.from({ length: plan.calls }, () => answers[0] as string) : answers;
  const made = assemble(history, plan, all, ledger, settings, quarter);
  return "edit" in made ? applyEdit(history, made.edit) : undefined;
}

/** All texts of a request. */
export function textsOf(messages: Iterable<Message>): string {
  return [...messages]
    .map((message) => message.content.map((part) => ("text" in part ? part.text : "")).join(""))
    .join("\n");
}
