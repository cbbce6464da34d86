// The room of messages to a session: how they are queued, told and taken back.

import { checkGiven } from "../checks.ts";
import { type FileInput, readMessage } from "../input.ts";
import type { Fact } from "../loop/records.ts";
import type { Queued } from "../loop/state.ts";
import { type TextPart, textOf } from "../message.ts";
import type { RunResult } from "../result.ts";
import type { Driving } from "./driving.ts";
import { idArgument, newIdArgument } from "./method-options.ts";
import { idsOf, type SessionParts } from "./parts.ts";
import { haveRead, type Told } from "./tell.ts";
import { isWithdrawn, waitingMessages } from "./waiting-messages.ts";

/** What a message may be: a text, or parts (text, files). */
export type Said = string | readonly (TextPart | FileInput)[];

const lanes = { steer: "steer", followUp: "follow_up", tell: "steer" } as const;

export class Messages<Output> {
  readonly #parts: SessionParts;
  readonly #driving: Driving<Output>;
  readonly #nextId: ReturnType<typeof idsOf>;

  constructor(parts: SessionParts, driving: Driving<Output>) {
    this.#parts = parts;
    this.#driving = driving;
    this.#nextId = idsOf(parts);
  }

  /** @param method the method of a session that was called */
  queue(method: keyof typeof lanes, said: Said, id: string | undefined): Fact & { type: "queued" } {
    checkGiven(newIdArgument, { id }, method);
    const own = id ?? `${this.#parts.id}/${this.#nextId(this.#driving.state)}`;
    const message = readMessage(said);
    const fact = { type: "queued", id: own, lane: lanes[method], message } as const;
    this.#driving.post(fact);
    return fact;
  }

  async tell(session: Told<Output>, said: Said, id: string | undefined): Promise<RunResult<Output>> {
    const { drains } = this.#driving;
    const looking = this.#driving.lookAgain();
    if (looking !== undefined) await looking;
    const wasDriven = session.status === "running";
    const isInstead = session.pending.length > 0;
    const fact = this.queue("tell", said, id);
    return haveRead(session, {
      text: textOf(fact.message),
      wasDriven,
      isInstead,
      waits: () => this.queued.some((one) => one.id === fact.id),
      isStored: () => !this.#driving.unwritten.includes(fact),
      look: () => this.#driving.lookAgain(),
      wasDrained: () => this.#driving.drains > drains,
    });
  }

  get queued(): Queued[] {
    return waitingMessages(this.#driving.state, this.#driving.unwritten);
  }

  async withdraw(id: string): Promise<boolean> {
    checkGiven(idArgument, { id }, "withdraw");
    const looking = this.#driving.lookAgain();
    if (looking !== undefined) await looking;
    if (!this.queued.some((one) => one.id === id)) return false;
    const from = this.#driving.kept;
    await this.#driving.store({ type: "withdrawn", id });
    return isWithdrawn(this.#parts.journal, this.#parts.id, id, from);
  }
}
