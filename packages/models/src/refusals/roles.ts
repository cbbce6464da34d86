// The room of refusals about roles: a server without the developer role, a chat template without the system role (F128).

/** In the words of gateways, strict parsers, and chat templates. */
const noDeveloper: RegExp =
  /\bdeveloper[`'"\\]*(?: role)? is (?:not one of|not (?:supported|allowed|valid)|unsupported)|(?:unknown variant|invalid (?:value|role)|unsupported (?:value|role)|unexpected (?:message )?role|unknown role|not support|one of)[^{}]{0,60}\bdeveloper\b|(?:unexpected|unknown) message role\b|incorrect role information/i;
const noSystem: RegExp =
  /\bsystem[`'"\\]* (?:role|messages?|instructions?)[^.{}]{0,30} not (?:be )?(?:supported|allowed|enabled)|unknown variant [`'"\\]*system\b|not support [`'"\\]*system\b|developer instruction is not enabled|\bonly user and assistant roles are supported\b/i;

/** Only the first message may be the system's. */
export const refusesLaterSystem: RegExp =
  /invalid message role: system\b|\bsystem message(?:\s|\\n)+must be (?:at the begin|(?:the )?first)/i;

/** The role to use for the system prompt if its role was refused; undefined if the refusal is about something else. */
export function refusedSystemRole(
  words: string,
  role: "system" | "developer" | "user",
): "system" | "user" | undefined {
  if (role !== "user" && noSystem.test(words)) return "user";
  return role === "developer" && noDeveloper.test(words) ? "system" : undefined;
}
