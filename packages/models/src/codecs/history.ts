// The room of what was already joined: a history that only grew is not joined again from its start.
//
// A request repeats the messages of the one before. A list may know that it only grew; otherwise messages are compared by
// identity. Only what is new is added to the state built so far. A history that changed in the middle (pruned, compacted,
// repaired) starts again. States are held by a conversation's first message and go with it.

import type { Message, MessageList } from "@rondo/core";

interface Held<S> {
  key: string;
  seen: Message[];
  /** The list last read. */
  list: MessageList;
  state: S;
}

export class History<S> {
  readonly #held = new WeakMap<Message, Held<S>>();

  /**
   * The state for all messages. `key` names what else it depends on. `add` changes the state it is given; callers must not
   * change the result.
   */
  take(messages: MessageList, key: string, fresh: () => S, add: (state: S, message: Message) => void): S {
    const first = messages.at(0);
    if (first === undefined) return fresh();
    const known = this.#held.get(first);
    const held =
      known?.key === key && extended(known, messages)
        ? known
        : { key, seen: [], list: messages, state: fresh() };
    // If `add` throws, no half-updated state is kept.
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
