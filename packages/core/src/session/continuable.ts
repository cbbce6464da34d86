// The room of continuing: whether a conversation can be continued without a new message.

import { invalidRequest } from "../errors.ts";
import type { State } from "../loop/state.ts";

/** @throws RondoError `invalid_request` if no message waits and there is no conversation, or its last message is the model's */
export function checkContinuable(session: string, { history, inbox }: State): void {
  if (inbox.length > 0) return;
  const last = history.at(-1)?.role;
  if (last === undefined)
    throw invalidRequest(`session ${session} has no conversation to go on with: send() it a task`);
  if (last === "assistant")
    throw invalidRequest(`the conversation of session ${session} ends with an answer: send() it a word`);
}
