// The room of foreign stop words: what a word means that belongs to another protocol.
//
// Gateways put one house's answers into another's frames and leave the word as it was (F012). Taken for unknown, a cut
// answer would be a whole one, and its last call would run.

import type { StopKind } from "@rondo/core";
import { ownMember } from "../own-member.ts";
import { openaiChatStops, stopOf } from "./openai/stops.ts";

/** Chat Completions' table has the words of all houses, for its routers hand them all through. */
export const foreignStop = (word: string): StopKind =>
  isMalformed(word) ? "malformed_call" : stopOf(openaiChatStops, word);

/** A house's word for a call that could not be read or was never offered, whatever a router put before it (F015, F022). */
export const isMalformed = (word: string | undefined): boolean =>
  word !== undefined && /MALFORMED|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS/i.test(word);

/** What a word means by a protocol's own table, and by the others' where it is not in that. */
export const stopIn = (own: { readonly [word: string]: StopKind }, word: string): StopKind =>
  ownMember(own, word) ?? foreignStop(word);
