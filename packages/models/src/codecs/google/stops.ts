// The room of Google's stop words: what each word means alone.
//
// The table is total over the words Google documents; any other word is another protocol's, or
// `unknown`, kept raw, and judged by content.

import type { StopKind } from "@rondo/core";
import { foreignStop } from "../foreign-stops.ts";

/** `finishReason` of a candidate, and what the word alone says. STOP also ends answers that hold calls. */
export const googleStops: { readonly [word: string]: StopKind } = {
  STOP: "end_turn",
  MAX_TOKENS: "max_tokens",
  // The answer may be continued by a token of the server's own; without it the text is simply cut.
  CONTINUATION: "max_tokens",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  LANGUAGE: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  MODEL_ARMOR: "content_filter",
  JAILBREAK: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter",
  IMAGE_RECITATION: "content_filter",
  // The first two hold nothing that could run, the third a call that was never offered, the last more of them than Google
  // lets through.
  MALFORMED_FUNCTION_CALL: "malformed_call",
  MALFORMED_RESPONSE: "malformed_call",
  UNEXPECTED_TOOL_CALL: "malformed_call",
  TOO_MANY_TOOL_CALLS: "malformed_call",
  MISSING_THOUGHT_SIGNATURE: "error",
  NO_IMAGE: "error",
  IMAGE_OTHER: "error",
  OTHER: "unknown",
  FINISH_REASON_UNSPECIFIED: "unknown",
};

/** The word as the table has it; undefined for one that is none of Google's. Gateways fold its letters. */
function ownWord(word: string): string | undefined {
  return [word, word.toUpperCase()].find((one) => Object.hasOwn(googleStops, one));
}

/** Whether a word is another protocol's for an answer that broke off. */
export const isBrokenOff = (word: string): boolean =>
  ownWord(word) === undefined && foreignStop(word) === "error";

/** What a stop word alone says. */
export function googleStop(word: string): StopKind {
  const own = ownWord(word);
  return own === undefined ? foreignStop(word) : (googleStops[own] ?? "unknown");
}
