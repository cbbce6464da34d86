// The room of learning quirks from chat templates. A template renders the whole history with every request; if it fails,
// the server answers 400 or, if it only notices while it runs, 500 (F128, F129).

import type { Target } from "../../codec.ts";
import { phrases } from "../../patterns.ts";
import {
  refusedSystemRole,
  refusesAnswerLast,
  refusesLaterSystem,
  refusesNeighbours,
} from "../../refusals/roles.ts";
import type { OpenaiChatCompat } from "./compat.ts";

/** Llama's, for a history with several calls in one answer, and Databricks'. */
const oneCallOnly: RegExp = phrases(
  /only supports? single tool[- ]?calls? at once/,
  /\bmultiple tool calls are not supported\b/,
);

/** Qwen's and Step's, which iterate over a call's arguments and get text; and servers that check for the same. */
const noTextArguments: RegExp = phrases(
  /can only get item pairs from a mapping/,
  /filter [`'"\\]*items[`'"\\]* for type string/,
  /unknown method: items\b/,
  /\barguments\b[^{}]{0,60}(?:valid dictionary|must be an? (?:object|dict|mapping))/,
);

/** gpt-oss's, which has only one place for both. */
const noTextBesideThinking: RegExp = /cannot pass both content and thinking/i;

/** Gemma's and Hermes', which show a result under its tool's name. */
const noName: RegExp = phrases(
  /\binvalid tool response: [`'"\\]*name\b/,
  /\btool response dicts require a [`'"\\]*name\b/,
);

/** A template that computes with the text of an answer, in the words of Python, of llama.cpp, and of minja: null is none. */
const noNull: RegExp = phrases(
  /\bNoneType\b/,
  /[`'"]none[`'"]? has no attribute/,
  /\bcannot (?:subscript|iterate over|concatenate) null\b/,
  /\bbetween null and\b/,
  /\bof null\b/,
  /\bnull is not (?:iterable|a string)\b/,
  // LM Studio's engine.
  /\bNullValue\b/,
);

/** gpt-oss's, for control tokens in the history. */
const controlTokens: RegExp = /\bmessage containing <\|\w+\|> tags\b/i;

/** A history without a user message, or one that does not begin with one; Z.ai only says that it is illegal. */
const noUser: RegExp = phrases(
  /\bno user query found\b/,
  /\bnot contain elements with the role of user\b/,
  /\bfirst message\b[^{}]{0,60}\bmust be (?:from )?(?:the |a )?[`'"\\]*user\b/,
  /\bconversations? must start with (?:a |the )?[`'"\\]*user\b/,
  /\bmessages (?:parameter is illegal|参数非法)/,
);

/** The new quirks that a template's error message reveals. */
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
  if (compat.nullContent && noNull.test(words)) return { nullContent: false };
  if (!compat.toolNames && noName.test(words)) return { toolNames: true };
  if (!compat.breakTokens && controlTokens.test(words)) return { breakTokens: true };
  return !compat.needsUser && noUser.test(words) ? { needsUser: true } : undefined;
}
