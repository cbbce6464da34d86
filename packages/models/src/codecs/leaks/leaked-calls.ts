// The room of calls found in a text: each becomes a call of the answer.

import type { Answer } from "../../answer.ts";
import type { HarmonyCalls } from "./harmony.ts";

export class LeakedCalls implements HarmonyCalls {
  readonly #answer: Answer;
  readonly #open: (key: string, name: string) => void;
  #count = 0;

  /** @param open opens a call in the answer, by the key it is given */
  constructor(answer: Answer, open: (key: string, name: string) => void) {
    this.#answer = answer;
    this.#open = open;
  }

  open(name: string): void {
    this.#count += 1;
    this.#open(keyOf(this.#count), name);
  }

  args(piece: string): void {
    this.#answer.args(keyOf(this.#count), piece);
  }

  close(): void {
    this.#answer.callEnd(keyOf(this.#count));
  }

  /** Takes all of them out of the answer again. */
  drop(): void {
    for (let call = 1; call <= this.#count; call++) this.#answer.drop(keyOf(call));
  }
}

const keyOf = (call: number): string => `leaked ${call}`;
