// The room of incomplete turns: repairs a history that a hook has cut anywhere, so that no provider refuses it.
//
// Keeping only the last N messages sooner or later cuts between a call and its result. The answer that made the call is put
// back, because without it the result is meaningless; whatever else is missing or doubled is repaired as in a history from
// elsewhere.

import { callsOf, type Message } from "../message.ts";
import type { MessageList } from "../model.ts";
import { closeOpenCalls } from "./repair/pairing.ts";

/** The messages, with the answers that their results belong to; the same messages if nothing is missing. */
export function untorn(given: readonly Message[], history: MessageList): readonly Message[] {
  const there = new Set(given);
  const answers = given.some(({ role }) => role === "tool") ? answersIn(history) : undefined;
  const whole: Message[] = [];
  for (const message of given) {
    const asking = answers?.get(message);
    if (asking !== undefined && !there.has(asking)) {
      there.add(asking);
      whole.push(asking);
    }
    whole.push(message);
  }
  return closeOpenCalls(whole.length === given.length ? given : whole);
}

/** For each result of the history the answer with its call. One pass for all of them, because a hook may keep every result. */
function answersIn(history: MessageList): ReadonlyMap<Message, Message> {
  const answers = new Map<Message, Message>();
  let asking: Message | undefined;
  for (const message of history) {
    if (message.role !== "tool") asking = isAsking(message) ? message : undefined;
    else if (asking !== undefined) answers.set(message, asking);
  }
  return answers;
}

const isAsking = (message: Message): boolean => message.role === "assistant" && callsOf(message).length > 0;
