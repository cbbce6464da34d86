// The room of detecting a second answer: a proxy that lost its connection may append another answer to the beginning of the
// first (F077).
//
// A new id alone proves nothing, because some gateways make one for every chunk; nor does the role, because some repeat it
// in each. But a new id after one that was stable, in a chunk with the role, when so far only the first chunk had the role,
// means a second answer.

import { type JsonObject, RondoError } from "@rondo/core";
import type { Answer } from "../../answer.ts";
import type { Target } from "../../codec.ts";
import { speaker } from "../openai/errors.ts";

export class OneAnswer {
  #id: string | undefined;
  /** Several chunks in a row had this id. */
  #held = false;
  /** The role is in every chunk, so it marks no beginning. */
  #repeated = false;

  /** @throws RondoError `protocol` if another answer begins inside this one */
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
