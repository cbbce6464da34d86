// The room of what is already joined: a history that only grew is not walked through its pieces again.
//
// A step's request repeats the last one's messages. A list that knows that it only grew says so; else they are compared
// by identity. What was built from them is taken up where it ended; only what is new is added. A history that changed in the middle (pruned,
// compacted, repaired) starts anew. States hang on a conversation's first message and go with it.

import type { Message, MessageList } from "@rondo/core";

interface Held<S> {
  key: string;
  seen: Message[];
  /** The list they came in. */
  list: MessageList;
  state: S;
}

export class History<S> {
  readonly #held = new WeakMap<Message, Held<S>>();

  /**
   * What all the messages come to. `key` names what else it depends on. `add` changes the state it is given; whoever
   * gets the result must not.
   */
  take(messages: MessageList, key: string, fresh: () => S, add: (state: S, message: Message) => void): S {
    const first = messages.at(0);
    if (first === undefined) return fresh();
    const known = this.#held.get(first);
    const held =
      known?.key === key && extended(known, messages)
        ? known
        : { key, seen: [], list: messages, state: fresh() };
    // Should adding fail half-way, nothing half-way is kept.
    this.#held.delete(first);
    for (let at = held.seen.length; at < messages.length; at++) {
      const message = messages.at(at);
      if (message === undefined) break;
      add(held.state, message);
      held.seen.push(message);
    }
    held.list = messages;
    this.#held.set(first, held);
    return held.state;
  }
}

function extended({ seen, list }: Held<unknown>, messages: MessageList): boolean {
  if (list.length === seen.length && messages.extends?.(list) === true) return true;
  if (seen.length > messages.length) return false;
  for (let at = seen.length - 1; at >= 0; at--) if (messages.at(at) !== seen[at]) return false;
  return true;
}
