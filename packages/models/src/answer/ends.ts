// The room of an answer's end: its finish reason, and the limit on its length.

import type { StopKind } from "@rondo/core";
import type { Target } from "../codec.ts";

export interface AnswerEnd {
  /** What the provider's finish reason alone means. Absent if there was none. */
  wire?: StopKind;
  raw?: string;
  detail?: string;
}

/** The end of an answer that is as long as the limit, and so was cut off. */
export const cutAtLimit: AnswerEnd = {
  wire: "max_tokens",
  detail: "the answer is as long as the output limit: it was cut",
};

/** The most tokens an answer may have, if known. */
export const answerLimit = ({ outputLimit, facts }: Target): number | undefined =>
  outputLimit ?? facts.maxOutputTokens;
