// The room of Anthropic's request rules: what its server answers with 400, in its own words where they are known.
//
// An independent reading of the rules, not the encoder's: it parses the finished body and knows nothing of how it was
// made. The wire server answers with the first violation; tests want none.

import type { JsonObject } from "@rondo/core";
import { isObject, listIn, membersIn, objectIn, objectsIn } from "../../json.ts";
import { contentOf } from "./anthropic-content.ts";
import { checkDeferred } from "./anthropic-deferred.ts";
import { checkServerTools } from "./anthropic-server-tools.ts";
import { checkAnthropicStructured, checkLists } from "./schemas.ts";
import { breaches, checkWellFormed, type Say, type Violation } from "./violation.ts";

const memberName = /^[a-zA-Z0-9_.-]{1,64}$/;

const topMembers: ReadonlySet<string> = new Set([
  "model",
  "max_tokens",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "stream",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "thinking",
  "output_config",
  "metadata",
  "service_tier",
  "container",
  "context_management",
  "mcp_servers",
  "inference_geo",
  "speed",
  "diagnostics",
  "fallbacks",
  "billing_policy",
  "user_profile_id",
  "workspace_id",
  "anthropic_version",
  "anthropic_beta",
  "cache_control",
]);

const blockMembers: { readonly [type: string]: readonly string[] } = {
  text: ["text", "citations"],
  image: ["source", "transformations"],
  document: ["source", "title", "context", "citations"],
  tool_use: ["id", "name", "input", "caller", "toolset_name"],
  tool_result: ["tool_use_id", "content", "is_error", "toolset_name"],
  tool_reference: ["tool_name"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
};

/** Every rule that the body breaks; none for a body the server would take. */
export function checkAnthropicRequest(body: unknown): Violation[] {
  const { found, say } = breaches();
  if (!isObject(body)) return [{ path: "", message: "The request body is not a JSON object" }];
  checkWellFormed(body, "", say);
  for (const name of Object.keys(body))
    if (!topMembers.has(name)) say(name, `${name}: Extra inputs are not permitted`);
  if (!Number.isInteger(body.max_tokens) || (body.max_tokens as number) < 1)
    say("max_tokens", "max_tokens: Field required");
  const messages = objectsIn(body.messages);
  if (messages.length === 0) say("messages", "messages: at least one message is required");
  checkTools(body, messages, say);
  checkThinking(body, messages, say);
  checkMarks(body, say);
  for (const [at, block] of listIn(body.system).entries()) checkText(block, `system.${at}`, "system", say);
  const seen = new Set<string>();
  for (const [at, message] of messages.entries())
    checkMessage(message, at, messages[at + 1]?.role, seen, say);
  checkPairs(messages, say);
  checkServerTools(body, messages, say);
  checkDeferred(body, messages, say);
  checkEnd(messages, say);
  return found;
}

function checkText(block: unknown, path: string, where: string, say: Say): void {
  if (!isObject(block) || block.type !== "text") return;
  if (typeof block.text !== "string" || block.text === "")
    say(path, `${where}: text content blocks must be non-empty`);
  else if (block.text.trim() === "")
    say(path, `${where}: text content blocks must contain non-whitespace text`);
}

function checkMessage(message: JsonObject, at: number, next: unknown, seen: Set<string>, say: Say): void {
  const where = `messages.${at}`;
  if (message.role !== "user" && message.role !== "assistant")
    say(where, `${where}.role: Input should be 'user' or 'assistant'`);
  if (at === 0 && message.role !== "user") say(where, 'messages: first message must use the "user" role');
  for (const name of Object.keys(message))
    if (name !== "role" && name !== "content") say(where, `${where}.${name}: Extra inputs are not permitted`);
  const content = contentOf(message);
  if (content.length === 0) say(where, `${where}: all messages must have non-empty content`);
  let results = true;
  for (const [nth, block] of content.entries()) {
    const path = `${where}.content.${nth}`;
    checkBlock(block, path, say);
    const type = String(block.type);
    if (message.role === "user") {
      if (["tool_use", "thinking", "redacted_thinking"].includes(type))
        say(path, `${path}: \`${type}\` blocks can only be specified in \`assistant\` messages`);
      if (type !== "tool_result") results = false;
      else if (!results)
        say(path, `${path}: \`tool_result\` blocks must come before other content of the message`);
    } else if (["tool_result", "image", "document"].includes(type))
      say(path, `${path}: \`${type}\` blocks can only be specified in \`user\` messages`);
    if (type === "tool_use") {
      if (seen.has(String(block.id))) say(path, `${path}: \`tool_use\` ids must be unique`);
      seen.add(String(block.id));
    }
  }
  const last = content.at(-1)?.type;
  if (
    message.role === "assistant" &&
    next !== "assistant" &&
    (last === "thinking" || last === "redacted_thinking")
  )
    say(where, `${where}: The final block in an assistant message cannot be \`thinking\`.`);
}

function checkBlock(block: JsonObject, path: string, say: Say): void {
  const type = String(block.type);
  const members = blockMembers[type];
  if (members !== undefined)
    for (const name of Object.keys(block))
      if (name !== "type" && name !== "cache_control" && !members.includes(name))
        say(path, `${path}.${type}.${name}: Extra inputs are not permitted`);
  checkText(block, path, "messages", say);
  if (type === "tool_use") {
    if (!/^[a-zA-Z0-9_-]+$/.test(String(block.id)))
      say(path, `${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(block.name)))
      say(path, `${path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (!isObject(block.input)) say(path, `${path}.tool_use.input: Input should be a valid dictionary`);
  }
  if (type === "tool_result" && Array.isArray(block.content)) {
    if (block.content.length === 0 && block.is_error === true)
      say(path, `${path}: content cannot be empty if \`is_error\` is true`);
    for (const [nth, inner] of block.content.entries()) {
      checkText(inner, `${path}.content.${nth}`, "messages", say);
      if (isObject(inner)) checkBlock(inner, `${path}.content.${nth}`, say);
    }
    if (block.is_error === true && objectsIn(block.content).some((inner) => inner.type !== "text"))
      say(path, `${path}.tool_result: all content must be type \`text\` if \`is_error\` is true`);
  }
  if (type === "thinking" && typeof block.signature !== "string")
    say(path, `${path}.thinking.signature: Field required`);
}

function checkPairs(messages: readonly JsonObject[], say: Say): void {
  for (const [at, message] of messages.entries()) {
    const asked = contentOf(message)
      .filter((block) => block.type === "tool_use")
      .map((block) => String(block.id));
    const after = contentOf(messages[at + 1]?.role === "user" ? messages[at + 1] : undefined)
      .filter((block) => block.type === "tool_result")
      .map((block) => String(block.tool_use_id));
    const missing = asked.filter((id) => !after.includes(id));
    if (message.role === "assistant" && missing.length > 0)
      say(
        `messages.${at}`,
        `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    const before = contentOf(at > 0 && messages[at - 1]?.role === "assistant" ? messages[at - 1] : undefined)
      .filter((block) => block.type === "tool_use")
      .map((block) => String(block.id));
    const answered = new Set<string>();
    for (const [nth, block] of contentOf(message).entries()) {
      if (block.type !== "tool_result") continue;
      const id = String(block.tool_use_id);
      const path = `messages.${at}.content.${nth}`;
      if (!before.includes(id))
        say(
          path,
          `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        );
      if (answered.has(id))
        say(
          path,
          `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
        );
      answered.add(id);
    }
  }
}

function checkEnd(messages: readonly JsonObject[], say: Say): void {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return;
  const content = contentOf(last);
  const text = content.at(-1);
  if (text?.type === "text" && typeof text.text === "string" && text.text !== text.text.trimEnd())
    say("messages", "messages: final assistant content cannot end with trailing whitespace");
  // Only an answer that was paused among the provider's own tools, or behind its own summary, may stand at the end.
  const isServerTool = (type: string): boolean =>
    type === "compaction" ||
    (/_tool_(use|result)$/.test(type) && type !== "tool_use" && type !== "tool_result");
  if (!content.some((block) => isServerTool(String(block.type))))
    say(
      "messages",
      "This model does not support assistant message prefill. The conversation must end with a user message.",
    );
}

function checkTools(body: JsonObject, messages: readonly JsonObject[], say: Say): void {
  const tools = Array.isArray(body.tools) ? objectsIn(body.tools) : undefined;
  if (tools !== undefined && tools.length === 0) say("tools", "tools: List should have at least 1 item");
  const usesTools = messages.some((message) =>
    contentOf(message).some((block) => block.type === "tool_use" || block.type === "tool_result"),
  );
  if (usesTools && (tools === undefined || tools.length === 0))
    say("tools", "Requests which include `tool_use` or `tool_result` blocks must define tools");
  if (body.tool_choice !== undefined && tools === undefined)
    say("tool_choice", "tool_choice: may only be specified while providing tools");
  const names = new Set<string>();
  for (const [at, tool] of (tools ?? []).entries()) {
    const name = String(tool.name);
    if (names.has(name)) say(`tools.${at}`, "tools: Tool names must be unique.");
    names.add(name);
    if (tool.type === "custom" || typeof tool.type !== "string") checkTool(tool, `tools.${at}.custom`, say);
  }
  const output = membersIn(membersIn(body.output_config).format);
  if (output.schema !== undefined)
    checkAnthropicStructured(output.schema, "output_config.format.schema", say);
  const choice = objectIn(body.tool_choice);
  if (choice?.type === "tool" && !names.has(String(choice.name)))
    say("tool_choice", `Tool '${String(choice.name)}' not found in provided tools`);
}

const toolMembers: ReadonlySet<string> = new Set([
  "name",
  "description",
  "input_schema",
  "type",
  "cache_control",
  "strict",
  "defer_loading",
  "eager_input_streaming",
  "allowed_callers",
  "input_examples",
]);

/** A tool that is no server's. */
function checkTool(tool: JsonObject, path: string, say: Say): void {
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(tool.name)))
    say(path, `${path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  const schema = membersIn(tool.input_schema);
  if (tool.strict === true) checkAnthropicStructured(schema, `${path}.input_schema`, say);
  if (schema.type !== "object") say(path, `${path}.input_schema.type: Input should be 'object'`);
  if (["anyOf", "oneOf", "allOf"].some((word) => schema[word] !== undefined))
    say(path, `${path}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`);
  if (isObject(schema.properties) && Object.keys(schema.properties).some((key) => !memberName.test(key)))
    say(path, `${path}.input_schema.properties: Property keys should match pattern '${memberName.source}'`);
  checkLists(schema, `${path}.input_schema`, () =>
    say(path, `${path}.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12`),
  );
  for (const member of Object.keys(tool))
    if (!toolMembers.has(member)) say(path, `${path}.${member}: Extra inputs are not permitted`);
}

function checkThinking(body: JsonObject, messages: readonly JsonObject[], say: Say): void {
  const thinking = objectIn(body.thinking);
  const enabled = thinking?.type === "enabled" || thinking?.type === "adaptive";
  if (!enabled) return;
  const choice = objectIn(body.tool_choice)?.type;
  if (choice === "any" || choice === "tool")
    say("tool_choice", "Thinking may not be enabled when tool_choice forces tool use.");
  if (typeof body.temperature === "number" && body.temperature !== 1)
    say("temperature", "`temperature` may only be set to 1 when thinking is enabled.");
  if (body.top_k !== undefined) say("top_k", "`top_k` must be unset when thinking is enabled.");
  if (thinking?.type !== "enabled") return;
  const budget = thinking.budget_tokens;
  if (typeof budget !== "number" || budget < 1024)
    say("thinking", "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
  else if (budget >= (body.max_tokens as number))
    say("thinking", "`max_tokens` must be greater than `thinking.budget_tokens`.");
  const at = messages.findLastIndex((message) => message.role === "assistant");
  const inToolLoop = contentOf(messages.at(-1)).some((block) => block.type === "tool_result");
  const first = contentOf(messages[at])[0];
  if (inToolLoop && first !== undefined && !String(first.type).endsWith("thinking"))
    say(
      `messages.${at}.content.0`,
      `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first.type)}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
    );
}

function checkMarks(body: JsonObject, say: Say): void {
  const count =
    JSON.stringify([body.system ?? [], body.tools ?? [], body.messages ?? []]).split('"cache_control":{')
      .length - 1;
  if (count > 4)
    say("cache_control", `A maximum of 4 blocks with cache_control may be provided. Found ${count}.`);
}
