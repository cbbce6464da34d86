// The room of refusals that are about who speaks: a server that knows no developer, a template that knows no system (F128).

/** In the words of gateways, of strict parsers, and of chat templates. */
const noDeveloper: RegExp =
  /\bdeveloper[`'"\\]*(?: role)? is (?:not one of|not (?:supported|allowed|valid)|unsupported)|(?:unknown variant|invalid (?:value|role)|unsupported (?:value|role)|unexpected (?:message )?role|unknown role|not support|one of)[^{}]{0,60}\bdeveloper\b|(?:unexpected|unknown) message role\b|incorrect role information/i;
const noSystem: RegExp =
  /\bsystem[`'"\\]* (?:role|messages?|instructions?)[^.{}]{0,30} not (?:be )?(?:supported|allowed|enabled)|unknown variant [`'"\\]*system\b|not support (?:a |the )?[`'"\\]*system\b|\bsystem[`'"\\]* is not a (?:supported|valid) role\b|developer instruction is not enabled|\bonly user and assistant roles are supported\b/i;

/** The first message may be the system's, no other. */
export const refusesLaterSystem: RegExp =
  /invalid message role: system\b|\bsystem messages?(?:\s|\\n)+(?:must|should|can|may|is|are)(?: only)?(?: be)?(?: only)?(?: allowed)? (?:at the (?:begin|start)|(?:the )?first)|\binitial optional system message\b/i;

/** The role that the system prompt goes out in where the one it had was refused; undefined where that is no complaint here. */
export function refusedSystemRole(
  words: string,
  role: "system" | "developer" | "user",
): "system" | "user" | undefined {
  if (role !== "user" && noSystem.test(words)) return "user";
  return role === "developer" && noDeveloper.test(words) ? "system" : undefined;
}
