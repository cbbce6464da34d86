// The room of what a chat template teaches: it renders the whole history anew with every request, and what it cannot render
// it refuses, with a 400 or, where a local server finds that out as it goes, with a 500 (F128, F129).

import type { Target } from "../../codec.ts";
import {
  refusedSystemRole,
  refusesAnswerLast,
  refusesLaterSystem,
  refusesNeighbours,
} from "../../refusals/roles.ts";
import type { OpenaiChatCompat } from "./compat.ts";

/** Llama's, over a history in which one answer has several calls. */
const oneCallOnly: RegExp = /only supports? single tool[- ]?calls? at once/i;

/** Qwen's and Step's, which go through the arguments of a call and are given a text; and servers that check for as much. */
const noTextArguments: RegExp =
  /can only get item pairs from a mapping|filter [`'"\\]*items[`'"\\]* for type string|unknown method: items\b|\barguments\b[^{}]{0,60}(?:valid dictionary|must be an? (?:object|dict|mapping))/i;

/** That of gpt-oss, which has one place for both. */
const noTextBesideThinking: RegExp = /cannot pass both content and thinking/i;

/** Gemma's, which tells of a result under its tool's name. */
const noName: RegExp = /\binvalid tool response: [`'"\\]*name\b/i;

/** A history without a person in it, or one that a person does not begin. */
const noUser: RegExp =
  /\bno user query found\b|\bnot contain elements with the role of user\b|\bfirst message\b[^{}]{0,60}\bmust be (?:from )?(?:the |a )?[`'"\\]*user\b|\bconversations? must start with (?:a |the )?[`'"\\]*user\b/i;

/** The quirks that a template's words tell of and that are not known yet. */
export function learnedOfTemplate(
  words: string,
  compat: OpenaiChatCompat,
): NonNullable<Target["compat"]> | undefined {
  const systemRole = refusedSystemRole(words, compat.systemRole);
  if (systemRole === "user") return { systemRole, systemFirstOnly: true, alternate: true };
  if (systemRole !== undefined) return { systemRole };
  if (!compat.systemFirstOnly && refusesLaterSystem.test(words)) return { systemFirstOnly: true };
  if (!compat.noAssistantLast && refusesAnswerLast.test(words)) return { noAssistantLast: true };
  if (!compat.singleCalls && oneCallOnly.test(words)) return { singleCalls: true };
  if (!compat.alternate && refusesNeighbours.test(words)) return { alternate: true, systemFirstOnly: true };
  if (!compat.objectArguments && noTextArguments.test(words)) return { objectArguments: true };
  if (compat.textBesideCalls && noTextBesideThinking.test(words)) return { textBesideCalls: false };
  if (!compat.toolNames && noName.test(words)) return { toolNames: true };
  return !compat.needsUser && noUser.test(words) ? { needsUser: true } : undefined;
}
