// The room of torn turns: a history somebody cut anywhere, made one that no provider refuses.
//
// A cut between a call and its result is what every list of the last so many messages makes sooner or later. The answer
// that made the call is put back, for without it the result says nothing; what else is missing or double is mended as
// in a history from elsewhere.

import { callsOf, type Message } from "../message.ts";
import type { MessageList } from "../model.ts";
import { closeOpenCalls } from "./repair/pairing.ts";

/** The messages with the answers their results belong to; the same messages where nothing was torn. */
export function untorn(given: readonly Message[], history: MessageList): readonly Message[] {
  const there = new Set(given);
  const whole: Message[] = [];
  for (const message of given) {
    const asking = message.role === "tool" ? answerOf(message, history) : undefined;
    if (asking !== undefined && !there.has(asking)) {
      there.add(asking);
      whole.push(asking);
    }
    whole.push(message);
  }
  return closeOpenCalls(whole.length === given.length ? given : whole);
}

/** The answer whose call a result of the history answers. */
function answerOf(result: Message, history: MessageList): Message | undefined {
  let at = history.length - 1;
  while (at >= 0 && history.at(at) !== result) at -= 1;
  while (at >= 0 && history.at(at)?.role === "tool") at -= 1;
  const before = at < 0 ? undefined : history.at(at);
  return before?.role === "assistant" && callsOf(before).length > 0 ? before : undefined;
}
