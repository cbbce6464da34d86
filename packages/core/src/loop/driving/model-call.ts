// The room of the model call that is under way: one at a time. What still comes of one that was given up is late, and told nobody.

import type { RondoError } from "../../errors.ts";
import type { Fact } from "../records.ts";

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
   * Another begins.
   * @param audience who hears it, as long as it is not given up
   * @returns its signal, and what makes a fact of what it came to
   */
  begins(audience?: { isThere: boolean }): { controller: AbortController; came: (fact: Fact) => Fact } {
    const call = { controller: new AbortController(), audience };
    this.#call = call;
    const came = (fact: Fact): Fact => {
      // Another call may be waited for by now: it is not that one's answer.
      if (this.#call !== call) return { type: "late_result", call: null };
      this.#call = undefined;
      return fact;
    };
    return { controller: call.controller, came };
  }

  /** Fires its signal, where one is under way. @param isAwaited what it comes to counts still; else it is given up */
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
