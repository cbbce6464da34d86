// The room of foreign finish reasons: what one of another protocol means.
//
// Gateways convert one vendor's answers to another protocol and leave the finish reason as it was (F012). Read as unknown,
// a truncated answer would count as whole, and its last call would run.

import type { StopKind } from "@rondo/core";
import { ownMember } from "@rondo/core/checks";
import { openaiChatStops, stopOf } from "./openai/stops.ts";

/** Chat Completions' table has every vendor's words, because its routers pass them all on. */
export const foreignStop = (word: string): StopKind =>
  isMalformed(word) ? "malformed_call" : stopOf(openaiChatStops, word);

/** A vendor's word for a call that could not be parsed or whose tool was not offered, whatever a router put before it (F015, F022). */
export const isMalformed = (word: string | undefined): boolean =>
  word !== undefined && /MALFORMED|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS/i.test(word);

/** What a finish reason means by the protocol's own table, or else by the others'. */
export const stopIn = (own: { readonly [word: string]: StopKind }, word: string): StopKind =>
  ownMember(own, word) ?? foreignStop(word);
