// The room of what is said: messages enter the conversation.

import type { Message } from "../../message.ts";
import type { Log } from "../log.ts";
import type { State } from "../state.ts";

/** What changes in a state when messages enter its conversation. @param base the history, if it is replaced */
export const saying = (
  { history, said }: State,
  messages: readonly Message[],
  base: Log<Message> = history,
): Pick<State, "history" | "said"> => ({
  history: base.push(...messages),
  said: said + messages.filter(({ role }) => role === "user").length,
});
