// The room of questions: what somebody's code was asked and has not answered.
//
// Hooks, checks of an output, tools about what came of a call that was cut off, sub-agents that were left behind. Each is
// asked once at a time; its answer comes by mail, and one that nobody waits for any more is told so by its signal.

import type { RondoError } from "../../errors.ts";
import type { Run, State } from "../state.ts";
import { endsOver } from "./failing.ts";
import type { Arriving } from "./timely.ts";

/** A question to somebody's code. */
export type Ask = (signal: AbortSignal) => Promise<Arriving>;

/** One that has not been answered: its signal, and whether its answer is still waited for in a run that goes on. */
interface Question {
  readonly controller: AbortController;
  isWanted(run: Run): boolean;
}

/** Who asks, as far as this room goes. */
interface Asking {
  state(): State;
  post(fact: Arriving): void;
}

export class Questions {
  readonly #asking: Asking;
  readonly #open = new Map<string, Question>();
  /** What was asked in an era that is over is nobody's any more. */
  #era = 0;

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  /** Whether one has not been answered. */
  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  /**
   * Asks one that is not being asked already; its answer comes by mail, unless the run has ended meanwhile.
   * @param isWanted whether its answer is still waited for. Default: as long as the run goes on
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

  /** Fires the signal of each that is no longer wanted. @param why made where there is one */
  release(why: (state: State) => RondoError): void {
    const state = this.#asking.state();
    const { run } = state;
    if (run === undefined) return;
    const areVoid = run.cancelledAt !== undefined || run.end !== undefined;
    for (const { controller, isWanted } of this.#open.values())
      if (areVoid || !isWanted(run)) controller.abort(why(state));
  }

  /** All of them are told to stop; what they still answer is heard. */
  stopAll(error: RondoError): void {
    for (const { controller } of this.#open.values()) controller.abort(error);
  }

  /** None of them is any more: nothing they still answer is heard, and each may be asked anew. */
  forget(): void {
    this.#era += 1;
    this.#open.clear();
  }
}
