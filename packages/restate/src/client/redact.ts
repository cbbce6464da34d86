// The room of redaction: secrets are taken out of what a client says, before Restate has it.
//
// What is sent to a server stands in its journal, which no agent's redaction reaches.

import { type Fact, formatVersion, type RedactOptions } from "@rondo/core";
import { redaction } from "@rondo/core/driving";
import { cleaned } from "../drive/journaled-calls.ts";
import type { Answer, RunRequest, Saying } from "../wire.ts";

export class Clean {
  readonly #by: { readonly redact: ((fact: Fact) => Fact) | undefined };

  /** @param options absent: nothing is taken out */
  constructor(options: RedactOptions | undefined) {
    this.#by = { redact: options === undefined ? undefined : redaction(options) };
  }

  /** A run as it is asked for. */
  asked(what: Omit<RunRequest, "agent" | "id">): typeof what {
    const fact = cleaned({ type: "run_started", format: formatVersion, ...what }, this.#by);
    const { type: _type, format: _format, ...asked } = fact;
    return asked;
  }

  /** A word. An answer is looked at as in the fact that it comes to. */
  said(say: Saying): Saying {
    if (say.type !== "answer") return cleaned(say, this.#by);
    const fact = { type: "approval_passed", call: "0.0", inside: "", said: say.said };
    return { ...say, said: cleaned(fact as unknown as Fact & { said: Answer }, this.#by).said };
  }
}
