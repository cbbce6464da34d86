// The room of whose chunks these are: a proxy that lost its connection may put a second answer behind the beginning of the first (F077).
//
// The id alone tells nothing, for some gateways make one for every chunk, and the role alone neither, for some repeat it in
// each. An id that held, and a chunk of another that begins with the role where none but the first had it, are two answers.

import { type JsonObject, RondoError } from "@rondo/core";
import type { Answer } from "../../answer.ts";
import type { Target } from "../../codec.ts";
import { speaker } from "../openai/errors.ts";

export class OneAnswer {
  #id: string | undefined;
  /** Several chunks had this id, and no other. */
  #held = false;
  /** The role stands in every chunk: it begins nothing. */
  #repeated = false;

  /** @throws RondoError `protocol` where another answer begins inside this one */
  check({ id }: JsonObject, delta: JsonObject | undefined, answer: Answer, target: Target): void {
    if (typeof id !== "string" || id === "") return;
    const begins = delta?.role === "assistant";
    if (begins && id === this.#id) this.#repeated = true;
    if (this.#held && id !== this.#id && begins && !this.#repeated && !answer.empty)
      throw answer.failed(
        new RondoError(
          "protocol",
          `${speaker(target)} began another answer (${id}) before the first (${this.#id}) had ended: a proxy joined the two, and neither can be trusted`,
          { retryable: true },
        ),
      );
    this.#held = this.#id === id;
    this.#id = id;
  }
}
