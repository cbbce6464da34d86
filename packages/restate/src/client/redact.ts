// The room of redaction: removes secrets from what a client sends, before Restate gets it.
//
// The server stores what it is sent in its own journal, where no agent's redaction reaches it.

import { type Fact, formatVersion, type RedactOptions } from "@rondo/core";
import { redaction } from "@rondo/core/driving";
import { cleaned } from "../drive/journaled-calls.ts";
import type { Answer, RunRequest, Saying } from "../wire.ts";

export class Clean {
  readonly #by: { readonly redact: ((fact: Fact) => Fact) | undefined };

  /** @param options absent: no redaction */
  constructor(options: RedactOptions | undefined) {
    this.#by = { redact: options === undefined ? undefined : redaction(options) };
  }

  /** A run request, redacted. */
  asked(what: Omit<RunRequest, "agent" | "id">): typeof what {
    const fact = cleaned({ type: "run_started", format: formatVersion, ...what }, this.#by);
    const { type: _type, format: _format, ...asked } = fact;
    return asked;
  }

  /** A message, redacted. An answer is redacted as the fact that it becomes. */
  said(say: Saying): Saying {
    if (say.type !== "answer") return cleaned(say, this.#by);
    const fact = { type: "approval_passed", call: "0.0", inside: "", said: say.said };
    return { ...say, said: cleaned(fact as unknown as Fact & { said: Answer }, this.#by).said };
  }
}
