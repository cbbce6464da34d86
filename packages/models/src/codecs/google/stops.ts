// The room of Google's finish reasons: what each means by itself.
//
// The table covers every word that Google documents; any other is another protocol's, or `unknown`, kept raw and judged by
// the content.

import type { StopKind } from "@rondo/core";
import { foreignStop } from "../foreign-stops.ts";

/** `finishReason` of a candidate, and what it means by itself. STOP also ends answers with calls. */
export const googleStops: { readonly [word: string]: StopKind } = {
  STOP: "end_turn",
  MAX_TOKENS: "max_tokens",
  // A pause, if there is a token with which the server continues (`continuation.ts`); otherwise the text is simply cut off.
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
  // A rule of Google's stopped the answer; and an account that Google has limited for what it asked for.
  ESCALATION: "content_filter",
  PUP_LIMITED_DISABLED: "content_filter",
  // The first two have nothing that could run, the third a call to a tool that was not offered, the last more calls than
  // Google allows.
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

/** The word as in the table, since gateways change its case; undefined if it is not Google's. */
function ownWord(word: string): string | undefined {
  return [word, word.toUpperCase()].find((one) => Object.hasOwn(googleStops, one));
}

/** Whether a word is another protocol's for an answer that broke off. */
export const isBrokenOff = (word: string): boolean =>
  ownWord(word) === undefined && foreignStop(word) === "error";

/** What a finish reason means by itself. */
export function googleStop(word: string): StopKind {
  const own = ownWord(word);
  return own === undefined ? foreignStop(word) : (googleStops[own] ?? "unknown");
}
