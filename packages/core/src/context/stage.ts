// The room of the stage: what the steps between the history and the request have in common.
//
// A stage is a pure function of messages. It does not change its input, returns the same list if it has nothing to do, and
// caches the copy of a message: a message that is the same object in two requests is encoded once and keeps the provider's
// cache. It replaces messages one for one, so that no call loses its result (P1).

import { Log } from "../loop/log.ts";
import type { Message, ToolMessage } from "../message.ts";
import type { MessageList } from "../model.ts";
import { oncePer } from "../once-per.ts";

/** What a stage did. `before` and `after` are estimated tokens, unless `note` names another unit. */
export interface StageNote {
  stage: "cap" | "trim" | "prune" | "guard" | "compaction";
  before: number;
  after: number;
  /** In plain words, with numbers. */
  note: string;
}

/** A message in the place of another. */
export interface Replacement {
  at: number;
  message: Message;
}

/** The outcome of a stage: the given list if `edits` is empty. */
export interface Staged {
  messages: MessageList;
  edits: readonly Replacement[];
  note?: StageNote;
}

/** The known limits of a model, in tokens. */
export interface WindowFacts {
  contextWindow?: number;
  /** The most tokens of input alone, if the provider states it. */
  maxInputTokens?: number;
}

/** The window that stages use. `first`: which fact is used if both are known. Default: `contextWindow`. */
export function knownWindow(
  facts: WindowFacts,
  first: keyof WindowFacts = "contextWindow",
): number | undefined {
  const second = first === "contextWindow" ? "maxInputTokens" : "contextWindow";
  return known(facts[first]) ?? known(facts[second]);
}

/** The facts, for a window that is known to hold at most so many tokens. */
export function narrowed(facts: WindowFacts, most: number): WindowFacts {
  const input = known(facts.maxInputTokens);
  return {
    contextWindow: Math.min(known(facts.contextWindow) ?? most, most),
    ...(input === undefined ? {} : { maxInputTokens: Math.min(input, most) }),
  };
}

const known = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : undefined;

/** The list with each replacement in its place; the same list if there are none. */
export function withEdits(messages: MessageList, edits: readonly Replacement[]): MessageList {
  if (edits.length === 0) return messages;
  const edited = [...messages];
  for (const { at, message } of edits) edited[at] = message;
  return edited;
}

/** The messages while a stage works on them: what it put in the place of some, and the size of all. */
export class Draft {
  /** The sum of the measure over all messages as they are now. */
  total: number;
  readonly #messages: MessageList;
  readonly #measure: (message: Message) => number;
  readonly #edited = new Map<number, Message>();

  constructor(messages: MessageList, measure: (message: Message) => number, total: number) {
    this.#messages = messages;
    this.#measure = measure;
    this.total = total;
  }

  /** The message at a place, as it is now. */
  at(place: number): Message {
    return this.#edited.get(place) ?? (this.#messages.at(place) as Message);
  }

  /** Puts a message in a place, unless it is there already. */
  put(place: number, now: Message): void {
    const was = this.at(place);
    if (now === was) return;
    this.total += this.#measure(now) - this.#measure(was);
    this.#edited.set(place, now);
  }

  /** How many messages were replaced. */
  get count(): number {
    return this.#edited.size;
  }

  get edits(): Replacement[] {
    return [...this.#edited].map(([at, message]) => ({ at, message }));
  }
}

/** The sum of a measure over the messages from `from` on. For a log only messages that are new since the last call are measured. */
export function sumOf(
  messages: MessageList,
  measure: (message: Message) => number,
  from: number = 0,
): number {
  if (messages instanceof Log) return (messages as Log<Message>).sum(measure, from);
  let sum = 0;
  for (let at = from; at < messages.length; at += 1) sum += measure(messages.at(at) as Message);
  return sum;
}

/** The same value for the same message and settings, computed once and kept as long as both exist. */
export function once<Settings extends object, Value>(
  make: (message: Message, settings: Settings) => Value,
): (message: Message, settings: Settings) => Value {
  const made = oncePer((settings: Settings) =>
    oncePer((message: Message) => ({ value: make(message, settings) })),
  );
  return (message, settings) => made(settings)(message).value;
}

/** The parts of a message, whatever a foreign history has there: a string becomes one part, and anything that is no object is ignored. */
export function partsOf(message: Message): Message["content"] {
  const content: unknown = (message as { content?: unknown } | null)?.content;
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.filter((part) => typeof part === "object" && part !== null);
}

/** The texts of a result, joined by line ends. */
export function resultText(message: Message): string {
  const texts: string[] = [];
  for (const part of partsOf(message))
    if (part.type === "text" && typeof part.text === "string") texts.push(part.text);
  return texts.join("\n");
}

export const hasFile = (message: Message): boolean => partsOf(message).some((part) => part.type === "file");

/** A result with one text in place of its content, the ref of its full text, the tools it offers, and no members that a result does not have. */
export function withText(result: ToolMessage, text: string): ToolMessage {
  const { role, callId, name, isError, offers } = result;
  const ref = storedRef(result);
  return {
    role,
    callId,
    name,
    content: [{ type: "text", text }],
    isError,
    ...(ref === undefined ? {} : { ref }),
    ...(offers === undefined ? {} : { offers }),
  };
}

/** The ref of a result's full text, if it is set on the message. */
export function storedRef(result: ToolMessage): string | undefined {
  const { ref } = result;
  return typeof ref === "string" && ref !== "" ? ref : undefined;
}

/** A number for a reader: `12,345`. */
export const grouped = (value: number): string => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");

/** A count of things for a reader: `1 result`, `2 results`. */
export const many = (count: number, thing: string): string =>
  `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`;
