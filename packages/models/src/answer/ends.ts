// The room of an answer's end: what its last words come to, and how long it may be.

import type { StopKind } from "@rondo/core";
import type { Target } from "../codec.ts";

export interface AnswerEnd {
  /** What the provider's word alone means. Absent when no word came. */
  wire?: StopKind;
  raw?: string;
  detail?: string;
}

/** The end of an answer whose length shows that it was cut. */
export const cutAtLimit: AnswerEnd = {
  wire: "max_tokens",
  detail: "the answer is as long as the output limit: it was cut",
};

/** How many tokens an answer may have, as far as that is known. */
export const answerLimit = ({ outputLimit, facts }: Target): number | undefined =>
  outputLimit ?? facts.maxOutputTokens;
