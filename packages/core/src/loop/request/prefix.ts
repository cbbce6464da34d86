// The room of the prefix: a request's digest, and whether the request only grew.
//
// Providers cache the front of a request. A request with the same front as the last one is cheap; if something changes the
// front, an event says what. The cost is that of what is new: each message is hashed once, and the hashes are chained.

import { canonical, joined, numberOf } from "../../json/digest.ts";
import { type Json, type Message, offersOf } from "../../message.ts";
import type { ModelRequest } from "../../model.ts";
import type { RequestShape } from "../action.ts";
import { Log } from "../log.ts";

export interface PrefixNote {
  /** The digest of the whole request: equal bytes, equal digest. */
  digest: string;
  /** What changed before the new messages, and by which stage, if anything did: `message 3 (trim)`. */
  broke?: string;
}

const asItIs: RequestShape = { rewritten: [], by: [], notes: 0 };

interface Front {
  system: string | undefined;
  tools: ModelRequest["tools"];
  name: number;
}

/** All sessions of an agent have the same tools, and mostly the same system prompt: their digests are cached. */
const fronts = new WeakMap<ModelRequest["tools"], Front>();

function frontOf({ system, tools }: ModelRequest): Front {
  let front = fronts.get(tools);
  if (front === undefined || front.system !== system) {
    front = { system, tools, name: numberOf((system ?? "") + canonical(tools as unknown as Json)) };
    fronts.set(tools, front);
  }
  return front;
}

/** The digest of a single request. */
export const requestName = (request: ModelRequest): string => new Prefix().note(request).digest;

/** A request that was sent, and what made it differ from the history. */
export interface Sent {
  request: ModelRequest;
  shape: RequestShape;
}

/** Whether a front only has more tools than the one before, which the new messages offer. @param from the first new message */
function onlyOffers(before: Front, now: Front, messages: Log<Message>, from: number): boolean {
  if (before.system !== now.system || before.tools.some((tool, at) => tool !== now.tools[at])) return false;
  const offered = new Set<string>();
  for (let at = from; at < messages.length; at += 1) {
    const message = messages.at(at);
    if (message?.role === "tool") for (const name of offersOf(message)) offered.add(name);
  }
  return now.tools.slice(before.tools.length).every(({ name }) => offered.has(name));
}

/** Follows the requests of one session. */
export class Prefix {
  #sent: (() => Sent | undefined) | undefined;
  #messages: Log<Message> = Log.of<Message>();
  /** `#names[n]` is the digest of message n, `#chain[n]` that of the n messages before it. */
  readonly #names: number[] = [];
  readonly #chain: number[] = [0];
  /** What made the last request differ from the history. */
  #last: RequestShape = asItIs;
  #front: Front | undefined;
  #rest:
    | {
        choice: ModelRequest["toolChoice"];
        settings: ModelRequest["settings"];
        schema: unknown;
        name: number;
      }
    | undefined;

  /** The last request was sent by another driver or process: it is rebuilt when there is a new one to compare with. */
  follow(sent: () => Sent | undefined): void {
    this.#sent = sent;
  }

  /** Registers a request that is about to be sent. */
  note(request: ModelRequest, shape: RequestShape = asItIs): PrefixNote {
    const sent = this.#sent?.();
    this.#sent = undefined;
    if (sent !== undefined) this.note(sent.request, sent.shape);
    const before = this.#front;
    const front = frontOf(request);
    this.#front = front;
    const messages =
      request.messages instanceof Log ? (request.messages as Log<Message>) : Log.of([...request.messages]);
    const kept = this.#keep(messages);
    const isOtherFront = before !== undefined && before.name !== front.name;
    const isInPlace =
      isOtherFront && shape.offersInPlace === true && onlyOffers(before, front, messages, kept);
    const broke = isOtherFront && !isInPlace ? "system or tools" : this.#breakAt(kept, shape);
    this.#last = shape;
    const name = joined(joined(front.name, this.#nameRest(request)), this.#nameMessages(messages, kept));
    return { digest: String(name), ...(broke === undefined ? {} : { broke }) };
  }

  /** The first message that differs from the last request, if any does, and what has changed it. */
  #breakAt(kept: number, { rewritten, by }: RequestShape): string | undefined {
    if (kept === this.#messages.length) return undefined;
    const shownOnce = kept >= this.#messages.length - this.#last.notes;
    const causes = new Set([
      ...rewritten,
      ...(shownOnce ? ["a note shown once"] : [...this.#last.by, ...by]),
    ]);
    return `message ${kept + 1}${causes.size === 0 ? "" : ` (${[...causes].join(", ")})`}`;
  }

  #nameRest({ toolChoice: choice, settings, outputSchema: schema }: ModelRequest): number {
    const known = this.#rest;
    if (known?.choice === choice && known.settings === settings && known.schema === schema) return known.name;
    const name = numberOf(JSON.stringify([choice, settings, schema ?? null]));
    this.#rest = { choice, settings, schema, name };
    return name;
  }

  /** Hashes the messages; the first `kept` are those of the last request. One that only moved is already hashed. */
  #nameMessages(messages: Log<Message>, kept: number): number {
    // Mostly nothing is left: the history only grew.
    let moved: Map<Message | undefined, number> | undefined;
    for (let at = kept; at < this.#names.length; at += 1) {
      moved ??= new Map();
      moved.set(this.#messages.at(at), this.#names[at] as number);
    }
    this.#names.length = kept;
    this.#chain.length = kept + 1;
    for (let at = kept; at < messages.length; at += 1) {
      const message = messages.at(at) as Message;
      const name = moved?.get(message) ?? numberOf(JSON.stringify(message));
      this.#names.push(name);
      this.#chain.push(joined(this.#chain[at] as number, name));
    }
    this.#messages = messages;
    return this.#chain[messages.length] as number;
  }

  /** How many messages from the front are identical to those of the last request, or equal: a note is a new object each time. */
  #keep(messages: Log<Message>): number {
    if (messages.extends(this.#messages)) return this.#messages.length;
    const most = Math.min(messages.length, this.#messages.length);
    let at = 0;
    while (at < most && this.#isKept(at, messages.at(at) as Message)) at += 1;
    return at;
  }

  #isKept(at: number, message: Message): boolean {
    return message === this.#messages.at(at) || numberOf(JSON.stringify(message)) === this.#names[at];
  }
}
