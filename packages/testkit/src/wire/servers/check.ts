// The room of refusing: a request to one compatible server, checked by that server's rules.

import type { JsonObject } from "@rondo/core";
import { listIn, membersIn } from "../../json.ts";
import { bodyOf, checkOpenaiChatRequest } from "../rules/openai-chat.ts";
import type { Say, Violation } from "../rules/violation.ts";
import type { ServerPersonality, ServerRules } from "./personality.ts";

/** What the server would refuse about a body, as it went over the wire, and its headers (names in lower case). */
export function checkServerRequest(
  { rules }: ServerPersonality,
  text: string,
  headers: { readonly [name: string]: string | string[] | undefined } = {},
): Violation[] {
  const found = checkOpenaiChatRequest(text, rules.chat ?? {});
  const body = bodyOf(text, () => {});
  if (body === undefined) return found;
  const say = (path: string, message: string): void => void found.push({ path, message });
  for (const name of rules.headers ?? [])
    if (headers[name] === undefined) say(name, `bad request: missing ${name} header`);
  fields(body, rules, say);
  messages(body, rules, say);
  tools(body, rules, say);
  return found;
}

function fields(body: JsonObject, rules: ServerRules, say: Say): void {
  for (const field of Object.keys(body))
    if (rules.refused?.includes(field) === true || rules.fields?.includes(field) === false)
      say(field, `Extra inputs are not permitted, field: '${field}'`);
  if (typeof body.reasoning_effort === "string" && rules.efforts?.includes(body.reasoning_effort) === false)
    say("reasoning_effort", `reasoning_effort must be one of ${rules.efforts.join(", ")}`);
}

function messages(body: JsonObject, rules: ServerRules, say: Say): void {
  const list = listIn(body.messages).map(membersIn);
  const roles = rules.roles ?? ["system", "user", "assistant", "tool"];
  for (const [at, message] of list.entries()) {
    const path = `messages[${at}]`;
    const role = String(message.role);
    if (!roles.includes(role))
      say(`${path}.role`, `unknown variant \`${role}\`, expected one of ${roles.join(", ")}`);
    if (rules.systemFirst === true && role === "system" && at > 0)
      say(path, "System message must be at the beginning.");
    if (rules.noNullContent === true && (message.content === null || message.content === undefined))
      say(`${path}.content`, "'NoneType' object is not iterable");
    if (rules.echo !== undefined && role === "assistant" && message.tool_calls !== undefined) {
      const given = message[rules.echo.field];
      if (typeof given !== "string" || (rules.echo.filled === true && given === ""))
        say(`${path}.${rules.echo.field}`, `${rules.echo.message} ${at}`);
    }
    if (rules.obeysTokens === true && (role === "user" || role === "tool"))
      if (/<\|im_(?:start|end)\|>/.test(JSON.stringify(message.content ?? "")))
        say(`${path}.content`, "a control token in this text becomes a turn of its own");
  }
  if (rules.lastNotAssistant !== undefined && list.at(-1)?.role === "assistant")
    say("messages", rules.lastNotAssistant);
  if (rules.needsUser === true && !list.some(({ role }) => role === "user"))
    say("messages", "no user query found");
  if (rules.toolsWithHistory === true && body.tools === undefined && list.some(({ role }) => role === "tool"))
    say(
      "tools",
      "litellm.UnsupportedParamsError: Bedrock doesn't support tool calling without `tools=` param specified.",
    );
}

function tools(body: JsonObject, rules: ServerRules, say: Say): void {
  if (rules.noTools !== undefined && body.tools !== undefined) say("tools", rules.noTools);
  const forced = body.tool_choice !== undefined && body.tool_choice !== "auto" && body.tool_choice !== "none";
  const type = membersIn(body.thinking).type;
  const thinks = body.enable_thinking === undefined ? type !== "disabled" : body.enable_thinking === true;
  if (forced && (rules.noForcedCall === "ever" || (rules.noForcedCall === "thinking" && thinks)))
    say("tool_choice", "Thinking mode does not support this tool_choice");
  const format = membersIn(body.response_format).type;
  if (format !== undefined && body.tools !== undefined && rules.noSchemaWithTools === true)
    say("response_format", "json mode cannot be combined with tool/function calling");
  if (format === "json_schema" && rules.noJsonSchema === true)
    say("response_format", "This response_format type is unavailable now");
}
