// The room of the chat: one conversation with an agent over many runs, until it is reset.
//
// It only holds a session. A run that fails ends the conversation too, unless told otherwise: what a broken run left in the
// history would be sent again with every later message.

import type { Agent } from "../../agent.ts";
import { systemClock } from "../../clock.ts";
import { errorFrom, invalidRequest, RondoError } from "../../errors.ts";
import type { Listener } from "../../events.ts";
import { type Input, readInput } from "../../input.ts";
import type { Journal } from "../../journal.ts";
import type { Message } from "../../message.ts";
import type { Session } from "../../session.ts";

export interface ChatOptions {
  /** Begin a new conversation after a run that rejected. Default: true. */
  resetOnError?: boolean;
  /** Gets every live event of every run. */
  onEvent?: Listener;
  /** Where its sessions are stored. Default: the agent's journal. */
  journal?: Journal;
}

/** A conversation with an agent: the history is kept from run to run. */
export class Chat {
  readonly #agent: Agent;
  readonly #options: ChatOptions;
  #session: Session | undefined;
  #busy = false;

  constructor(agent: Agent, options: ChatOptions = {}) {
    this.#agent = agent;
    this.#options = options;
  }

  /** A copy of the conversation so far. */
  get messages(): Message[] {
    return this.#session?.messages ?? [];
  }

  /** Forgets the conversation. What a journal has stored of it stays there. */
  reset(): void {
    this.#session = undefined;
  }

  /**
   * Sends a message and returns the answer's text.
   * @throws RondoError the run's error, or `aborted`; `invalid_request` for an invalid input, while another run of the
   * chat is active, and when the run waits for an approval, because a chat has nobody to ask
   */
  async run(input: Input, options: { signal?: AbortSignal } = {}): Promise<string> {
    if (this.#busy) throw invalidRequest("the chat is busy: wait for the answer before saying more");
    // An invalid input is no failed run, and must not cost the conversation.
    readInput(input);
    this.#busy = true;
    let session: Session | undefined;
    try {
      session = this.#session ?? (await this.#open());
      this.#session = session;
      return await answerOf(session, input, options);
    } catch (thrown) {
      if (this.#options.resetOnError !== false && this.#session === session) this.reset();
      throw thrown;
    } finally {
      this.#busy = false;
    }
  }

  async #open(): Promise<Session> {
    const { journal, onEvent } = this.#options;
    const chance = Math.floor(systemClock.random() * 36 ** 8).toString(36);
    const id = `chat-${systemClock.now().toString(36)}-${chance}`;
    const session = await this.#agent.open(id, journal === undefined ? {} : { journal });
    if (onEvent !== undefined) session.subscribe(onEvent);
    return session;
  }
}

async function answerOf(session: Session, input: Input, options: { signal?: AbortSignal }): Promise<string> {
  const { end, parked, text } = await session.send(input, options);
  if (parked !== undefined) throw await unanswered(session);
  if (end?.reason === "aborted" && end.error === undefined)
    throw new RondoError("aborted", `the run was aborted: ${String(end.evidence.reason)}`);
  if (end?.error !== undefined) throw errorFrom(end.error);
  return text;
}

/** Ends a run that waits for an approval that nobody can give, so that the next run can begin. */
async function unanswered(session: Session): Promise<RondoError> {
  const names = session.pending.map((call) => call.name).join(", ");
  session.abort("a chat has nobody to ask for an approval");
  await session.settled();
  return invalidRequest(
    `${names} needs an approval, and a chat has nobody to ask: allow the tool, or use a session`,
  );
}
