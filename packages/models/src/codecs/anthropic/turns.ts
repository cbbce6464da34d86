// The room of turns: a history in the order that the Anthropic family of protocols requires.
//
// Each assistant message is followed at once by one result for each of its calls, in call order; what a user said in
// between comes after. A call without a result gets an error result, a result without a call is left out: the session's own
// rules prevent both, but a request must be valid even if they were broken.

import type {
  AssistantMessage,
  Message,
  MessageList,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from "@rondo/core";
import { callsOf, offersOf } from "@rondo/core";
import type { Warn, Warning } from "../warn.ts";

export interface Answered {
  /** The call's id on the wire, unique in the request. */
  id: string;
  call: ReturnType<typeof callsOf>[number];
  /** Absent: there was no result. */
  result?: ToolMessage;
}

export type Turn =
  | { kind: "user"; message: UserMessage | SystemMessage }
  | { kind: "assistant"; message: AssistantMessage; calls: Answered[] }
  | { kind: "results"; message: AssistantMessage; calls: Answered[] };

/** The result of a call that has none. */
export const noResult = "No result of this call was recorded. Whether it took effect is unknown.";

/**
 * Reads a history into turns. For a longer version of the same history (the same message objects) only new messages are
 * read; a changed history is read from the start.
 */
class TurnReader {
  readonly #wireId: (id: string) => string;
  readonly #api: string;
  #seen: Message[] = [];
  /** The list last read. */
  #list: MessageList = [];
  #used = new Set<string>();
  /** Calls of the last answer by their own ids, which may repeat in histories from elsewhere. */
  #open = new Map<string, Answered[]>();
  #forgotten = new Set<string>();
  /** System messages at the start of the history. */
  lead: SystemMessage[] = [];
  turns: Turn[] = [];
  /** The answers with blocks of the provider's own. */
  natives: AssistantMessage[] = [];
  /** Names of the tools that results offered. */
  offered: Set<string> = new Set();
  warnings: Warning[] = [];

  constructor(wireId: (id: string) => string, api: string) {
    this.#wireId = wireId;
    this.#api = api;
  }

  /** Updates `lead`, `turns`, `natives`, `offered` and `warnings` for this history. `turns` stays the same array as long as it only grows. */
  read(messages: MessageList): void {
    const known = this.#seen.length;
    const grew = this.#list.length === known && messages.extends?.(this.#list) === true;
    // A list that knows that it only grew needs checking only from there.
    let at = grew ? known : 0;
    for (; at < messages.length; at++) {
      const message = messages.at(at) as Message;
      if (at < known && this.#seen[at] !== message) break;
      if (at >= known) this.#take(message);
    }
    this.#list = messages;
    if (at === messages.length && at >= known) return;
    this.#seen = [];
    this.#used = new Set();
    this.#open = new Map();
    this.#forgotten = new Set();
    this.lead = [];
    this.turns = [];
    this.natives = [];
    this.offered = new Set();
    this.warnings = [];
    for (const message of messages) this.#take(message);
  }

  #take(message: Message): void {
    this.#seen.push(message);
    switch (message.role) {
      case "system":
        if (this.turns.length === 0) this.lead.push(message);
        else this.turns.push({ kind: "user", message });
        return;
      case "user":
        this.turns.push({ kind: "user", message });
        return;
      case "assistant":
        this.#answer(message);
        return;
      case "tool":
        this.#result(message);
    }
  }

  #answer(message: AssistantMessage): void {
    const found = callsOf(message);
    this.#open = new Map();
    if (isRefused(message, this.#api)) {
      for (const call of found) this.#forgotten.add(call.id);
      return;
    }
    const calls = found.map((call): Answered => ({ id: unused(this.#wireId(call.id), this.#used), call }));
    for (const answered of calls) {
      const alike = this.#open.get(answered.call.id);
      if (alike === undefined) this.#open.set(answered.call.id, [answered]);
      else alike.push(answered);
    }
    this.turns.push({ kind: "assistant", message, calls });
    if (message.content.some(({ type }) => type === "native")) this.natives.push(message);
    if (calls.length > 0) this.turns.push({ kind: "results", message, calls });
  }

  #result(message: ToolMessage): void {
    const asked = this.#open.get(message.callId);
    const next = asked?.find(({ result }) => result === undefined);
    if (next !== undefined) {
      next.result = message;
      for (const name of offersOf(message)) this.offered.add(name);
    } else if (asked !== undefined)
      this.warnings.push({
        code: "second_result",
        message: `a second result of call ${message.callId} (${message.name}) was left out`,
      });
    else if (!this.#forgotten.has(message.callId))
      this.warnings.push({
        code: "orphan_result",
        message: `the result of call ${message.callId} (${message.name}) was left out: the message before it asks for no such call`,
      });
  }
}

/** A turn that the model refused is not sent again, nor are its results: it would make the next answer a refusal too. */
const isRefused = ({ stop, origin }: AssistantMessage, api: string): boolean =>
  stop.wire === "refusal" && origin.api === api;

/**
 * Makes readers of histories, which warn about what they leave out. There is one reader per history, found by its first
 * message: sessions may share an encoder. It is forgotten with that message.
 * @param wireId an id as this protocol allows it; must be a pure function
 * @param api this protocol
 */
export function turnReaders(
  wireId: (id: string) => string,
  api: string,
): (messages: MessageList, warn: Warn) => TurnReader {
  const readers = new WeakMap<Message, TurnReader>();
  return (messages, warn) => {
    const first = messages.at(0);
    let reader = first === undefined ? undefined : readers.get(first);
    if (reader === undefined) {
      reader = new TurnReader(wireId, api);
      if (first !== undefined) readers.set(first, reader);
    }
    reader.read(messages);
    for (const { code, message } of reader.warnings) warn(code, message);
    return reader;
  };
}

/** The tools called in a history: the provider refuses a history with calls if no tool is declared. */
export function calledTools(turns: readonly Turn[]): string[] {
  const names = new Set<string>();
  for (const turn of turns)
    if (turn.kind === "results") for (const { call } of turn.calls) names.add(call.name);
  return [...names].sort();
}

/** Makes an id unique: histories from elsewhere may repeat ids, but the wire may not. */
function unused(id: string, used: Set<string>): string {
  let free = id;
  for (let n = 2; used.has(free); n++) free = `${id.slice(0, 56)}_r${n}`;
  used.add(free);
  return free;
}
