// The room of the model call in flight: one at a time. Of what an abandoned call still returns, only its cost is kept.

import type { RondoError } from "../../errors.ts";
import type { Fact } from "../records.ts";
import type { ModelRef } from "../run-options.ts";
import { lateAnswer } from "./late-results.ts";

interface Call {
  readonly controller: AbortController;
  readonly audience: { isThere: boolean } | undefined;
}

export class ModelCall {
  #call: Call | undefined;

  get isUnderWay(): boolean {
    return this.#call !== undefined;
  }

  /**
   * Begins another call.
   * @param by the model that is called
   * @param audience receives its deltas, as long as it is not abandoned
   * @returns its signal, and a function that posts its outcome
   */
  begins(
    post: (fact: Fact) => void,
    by: ModelRef | undefined,
    audience?: { isThere: boolean },
  ): { controller: AbortController; came: (fact: Fact) => void } {
    const call = { controller: new AbortController(), audience };
    this.#call = call;
    const came = (fact: Fact): void => {
      const isAwaited = this.#call === call;
      if (isAwaited) this.#call = undefined;
      // Another call may be waited for by now, and this is not its answer.
      post(isAwaited ? fact : lateAnswer(fact, by?.facts.price));
    };
    return { controller: call.controller, came };
  }

  /** Fires the signal of the call in flight, if there is one. @param isAwaited its outcome still counts; otherwise it is abandoned */
  stop(why: RondoError, isAwaited: boolean = false): void {
    const call = this.#call;
    if (call === undefined) return;
    if (!isAwaited) {
      this.#call = undefined;
      if (call.audience !== undefined) call.audience.isThere = false;
    }
    call.controller.abort(why);
  }
}
