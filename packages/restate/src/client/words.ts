// The room of what a client sends to a session: its words, and those of them that may still be in transit.

import { errorOf } from "../journal.ts";
import type { Server } from "../reading.ts";
import { type Driven, type Mail, maxFactBytes, type Posted, type PostRequest, type Saying } from "../wire.ts";
import type { Clean } from "./redact.ts";

/** Who sends, and where to. */
export interface Sender extends Server {
  agent: string;
  clean: Clean;
}

/** How many words are remembered as possibly in transit: older ones have long arrived. */
const mostSaid = 16;

export class Words {
  readonly #sender: Sender;
  readonly #id: string;
  /** What was sent here and may still be in transit, oldest first. */
  #said: Mail[] = [];

  constructor(sender: Sender, id: string) {
    this.#sender = sender;
    this.#id = id;
  }

  /** Sends a word. Resolves when it is stored. */
  async post(given: Saying): Promise<Mail> {
    const { agent, clean } = this.#sender;
    const say = clean.said(given);
    const posted = await this.call<Posted>("inbox", "post", { agent, say } satisfies PostRequest);
    const mail: Mail = { ...posted, agent, say };
    this.#said.push(mail);
    if (this.#said.length > mostSaid) this.#said.shift();
    return mail;
  }

  /** Sends a word, and waits until the session has taken it and is not driven any more. */
  async deliver(say: Saying): Promise<void> {
    const mail = await this.post(say);
    this.#said = this.#said.filter(({ n }) => n !== mail.n);
    // The inbox also forwards the word. The session takes it once, and either copy gets its turn when nobody drives.
    const driven = await this.call<Driven>("session", "take", mail);
    if (driven.error !== undefined) throw errorOf(driven.error);
  }

  /** Waits until the session has taken the oldest word that may be in transit. @returns false if there is none */
  async deliverOldest(signal: AbortSignal | undefined): Promise<boolean> {
    const mail = this.#said.shift();
    if (mail !== undefined) await this.call("session", "take", mail, signal);
    return mail !== undefined;
  }

  call<Out>(
    object: "session" | "inbox",
    handler: string,
    input: unknown,
    signal?: AbortSignal,
  ): Promise<Out> {
    const { ingress, services } = this.#sender;
    const heard = signal === undefined ? {} : { signal };
    // A message becomes a fact among others when it is taken: two that hardly fit alone would be retried forever.
    const bound = object === "inbox" ? { maxBytes: maxFactBytes } : {};
    return ingress.call<Out>(services[object], this.#id, handler, input, { once: true, ...bound, ...heard });
  }
}
