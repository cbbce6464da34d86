// The room of cleaning: secrets are taken out of what a client says, before Restate has it.
//
// What is sent to a server stands in its journal, which no agent's redaction reaches.

import { type Fact, formatVersion, type RedactOptions } from "@rondo/core";
import { redaction } from "@rondo/core/driving";
import type { Answer, RunRequest, Saying } from "../wire.ts";

export class Clean {
  readonly #redact: <F extends Fact>(fact: F) => F;

  /** @param options absent: nothing is taken out */
  constructor(options: RedactOptions | undefined) {
    const redact = options === undefined ? undefined : redaction(options);
    this.#redact = (fact) => (redact === undefined ? fact : (redact(fact) as typeof fact));
  }

  /** A run as it is asked for. */
  asked(what: Omit<RunRequest, "agent" | "id">): typeof what {
    const fact = this.#redact({ type: "run_started", format: formatVersion, ...what });
    const { type: _type, format: _format, ...asked } = fact;
    return asked;
  }

  /** A word. An answer is looked at as in the fact that it comes to. */
  said(say: Saying): Saying {
    if (say.type !== "answer") return this.#redact(say);
    const fact = { type: "approval_passed", call: "0.0", inside: "", said: say.said };
    return { ...say, said: this.#redact(fact as unknown as Fact & { said: Answer }).said };
  }
}
