// The room of pending callbacks: calls of user code that have not returned.
//
// Hooks, checks of an output, `reconcile` of tools, the ending of abandoned sub-agents. Each question is asked once at a
// time; its answer is posted to the mailbox. When an answer is no longer wanted, its signal is fired.

import type { RondoError } from "../../errors.ts";
import type { Run, State } from "../state.ts";
import type { Arriving } from "./late-results.ts";
import { endsOver } from "./thrown.ts";

/** A question to user code. */
export type Ask = (signal: AbortSignal) => Promise<Arriving>;

/** A question that has not been answered: its signal, and whether its answer is still wanted in a run that goes on. */
interface Question {
  readonly controller: AbortController;
  isWanted(run: Run): boolean;
}

/** What this room needs of the driver. */
interface Asking {
  state(): State;
  post(fact: Arriving): void;
}

export class PendingCallbacks {
  readonly #asking: Asking;
  readonly #open = new Map<string, Question>();
  /** Increased when all questions are dropped: answers from an earlier era are ignored. */
  #era = 0;

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  /** Whether a question has not been answered. */
  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  /**
   * Asks a question, unless it is being asked already; posts the answer, unless the run has ended meanwhile.
   * @param isWanted whether its answer is still wanted. Default: as long as the run goes on
   */
  ask(key: string, ask: Ask, isWanted: Question["isWanted"] = () => true): void {
    const { run } = this.#asking.state();
    const name = `${run?.number}/${key}`;
    if (this.#open.has(name)) return;
    const controller = new AbortController();
    this.#open.set(name, { controller, isWanted });
    const era = this.#era;
    const settle = (fact: Arriving): void => {
      if (era !== this.#era) return;
      this.#open.delete(name);
      const now = this.#asking.state().run;
      if (now?.number === run?.number && now?.end === undefined) this.#asking.post(fact);
    };
    ask(controller.signal).then(settle, (thrown: unknown) => settle(endsOver(thrown)));
  }

  /** Fires the signal of each question that is no longer wanted. @param why makes the reason, only called if there is one */
  release(why: (state: State) => RondoError): void {
    if (this.#open.size === 0) return;
    const state = this.#asking.state();
    const { run } = state;
    if (run === undefined) return;
    const areVoid = run.cancelledAt !== undefined || run.end !== undefined;
    for (const { controller, isWanted } of this.#open.values())
      if (areVoid || !isWanted(run)) controller.abort(why(state));
  }

  /** Fires all signals; answers that still come are taken. */
  stopAll(error: RondoError): void {
    for (const { controller } of this.#open.values()) controller.abort(error);
  }

  /** Drops all questions: answers that still come are ignored, and each may be asked anew. */
  forget(): void {
    this.#era += 1;
    this.#open.clear();
  }
}
