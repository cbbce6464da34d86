// The room of refusals about roles: a server without the developer role, a chat template without the system role (F128).

import { phrases } from "../patterns.ts";

/** The phrases of gateways, strict parsers, and chat templates. */
const noDeveloper: RegExp = phrases(
  /\bdeveloper[`'"\\]*(?: role)? is (?:not one of|not (?:supported|allowed|valid)|unsupported)/,
  /(?:unknown variant|invalid (?:value|role)|unsupported (?:value|role)|unexpected (?:message )?role|unknown role|not support|one of)[^{}]{0,60}\bdeveloper\b/,
  /(?:unexpected|unknown) message role\b/,
  /incorrect role information/,
);
const noSystem: RegExp = phrases(
  /\bsystem[`'"\\]* (?:role|messages?|instructions?)[^.{}]{0,30} not (?:be )?(?:supported|allowed|enabled)/,
  /unknown variant [`'"\\]*system\b/,
  /(?:not|n't) support (?:a |the )?[`'"\\]*system\b/,
  /\bsystem[`'"\\]* is not a (?:supported|valid) role\b/,
  /developer instruction is not enabled/,
  /\bonly user and assistant roles are supported\b/,
  /\binput should be [`'"\\]*user[`'"\\]* or [`'"\\]*assistant\b[^{}]{0,20}input[`'"\\]*: ?[`'"\\]*system\b/,
);

/** Only the first message may be a system message. */
export const refusesLaterSystem: RegExp = phrases(
  /invalid message role: system\b/,
  /\binvalid chat setting \(2013\)/,
  /\bsystem messages?(?:\s|\\n)+(?:must|should|can|may|is|are)(?: only)?(?: be)?(?: only)?(?: allowed)? (?:at the (?:begin|start)|(?:the )?first)/,
  /\binitial optional system message\b/,
);

/**
 * The history ends with an answer, which a server takes for the beginning of the next one (F127): the phrases of Mistral,
 * of DeepSeek, of Claude and Gemini behind a gateway, and of templates with thinking.
 */
export const refusesAnswerLast: RegExp = phrases(
  /expected last role user or tool\b/,
  /\blast message\b[^{}]{0,60}\b(?:must|should) (?:be|have|come)\b[^{}]{0,40}\buser\b/,
  /\bmust end (?:with|in) (?:a |an )?[`'"\\]*user\b/,
  /\bnot support (?:assistant |response |message )*prefill/,
  /\bprefill(?:ing)? is (?:not (?:supported|allowed)|unsupported|incompatible)/,
  /\blast message is from the assistant\b/,
  /\bassistant messages at the end\b/,
  /\bending with an? (?:model|assistant) turn\b/,
  /\bassistant[`'"\\]* role in the final position\b/,
  /\bfinal message must be (?:from )?(?:the |a )?[`'"\\]*user\b/,
);

/** Two messages of one role are adjacent, which a template or an old server does not accept. */
export const refusesNeighbours: RegExp = phrases(
  /\b(?:roles?|messages) (?:must alternate|should be alternating)\b/,
  /\bshould alternate with assistant\b/,
  /\b(?:consecutive|adjacent|successive) (?:(?:user|assistant)(?: or (?:user|assistant))? )?messages\b/,
  /\bmessages in a row\b/,
  /\brequests? (?:must )?alternate between user and model\b/,
);

/** Mistral's order of roles: a user may speak only after an answer to the results. */
export const refusesUserAfterResults: RegExp =
  /\bunexpected role [`'"\\]*user[`'"\\]* after role [`'"\\]*tool\b/i;

/** The role to use for the system prompt if its role was refused; undefined if the refusal is about something else. */
export function refusedSystemRole(
  words: string,
  role: "system" | "developer" | "user",
): "system" | "user" | undefined {
  if (role !== "user" && noSystem.test(words)) return "user";
  return role === "developer" && noDeveloper.test(words) ? "system" : undefined;
}
