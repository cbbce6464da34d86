// The room of Converse's request rules: what Bedrock answers with a ValidationException, in its words where known.

import type { JsonObject } from "@rondo/core";
import { isObject, listIn, membersIn, objectIn, objectsIn } from "../../json.ts";
import { breaches, checkWellFormed, type Say, type Violation } from "./violation.ts";

const topMembers: ReadonlySet<string> = new Set([
  "messages",
  "system",
  "inferenceConfig",
  "toolConfig",
  "guardrailConfig",
  "additionalModelRequestFields",
  "additionalModelResponseFieldPaths",
  "requestMetadata",
  "performanceConfig",
  "promptVariables",
  "serviceTier",
  "outputConfig",
]);

/** Every rule that the body breaks; none for a body the service would take. */
export function checkBedrockRequest(body: unknown): Violation[] {
  const { found, say } = breaches();
  if (!isObject(body)) return [{ path: "", message: "The request body is not a JSON object" }];
  checkWellFormed(body, "", say);
  for (const name of Object.keys(body))
    if (!topMembers.has(name)) say(name, `#/: extraneous key [${name}] is not permitted`);
  const messages = objectsIn(body.messages);
  if (messages.length === 0)
    say(
      "messages",
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  if (messages[0] !== undefined && messages[0].role !== "user")
    say(
      "messages.0",
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  if (messages.at(-1)?.role === "assistant")
    say(
      "messages",
      "This model does not support assistant message prefill. The conversation must end with a user message.",
    );
  const ids = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (at > 0 && messages[at - 1]?.role === message.role)
      say(
        `messages.${at}`,
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
      );
    checkMessage(message, at, ids, say);
    checkPairs(messages, at, say);
  }
  checkNames(messages, say);
  checkTools(body, messages, say);
  for (const [at, block] of listIn(body.system).entries()) checkBlank(block, `system.${at}`, say);
  checkReasoning(body, say);
  const points = JSON.stringify(body).split('{"cachePoint":').length - 1;
  if (points > 4) say("cachePoint", `The number of cache points (${points}) exceeds the limit of 4`);
  return found;
}

/** Nova's own: at its highest effort it sets its limit and its sampling itself. */
function checkReasoning(body: JsonObject, say: Say): void {
  const extra = membersIn(body.additionalModelRequestFields);
  const config = membersIn(extra.reasoningConfig);
  if (config.type !== "enabled" || config.maxReasoningEffort !== "high") return;
  const inference = membersIn(body.inferenceConfig);
  for (const name of ["maxTokens", "temperature", "topP"])
    if (inference[name] !== undefined)
      say(
        `inferenceConfig.${name}`,
        `The model returned the following errors: \`${name}\` must be unset when reasoningConfig type is 'enabled' and maxReasoningEffort is 'high'.`,
      );
}

function contentOf(message: JsonObject | undefined): JsonObject[] {
  return objectsIn(message?.content);
}

function checkBlank(block: unknown, path: string, say: Say): void {
  if (isObject(block) && typeof block.text === "string" && block.text.trim() === "")
    say(
      path,
      `The text field in the ContentBlock object at ${path} is blank. Add text to the text field, and try again.`,
    );
}

function checkMessage(message: JsonObject, at: number, ids: Set<string>, say: Say): void {
  const content = contentOf(message);
  if (content.length === 0)
    say(
      `messages.${at}`,
      `The content field in the Message object at messages.${at} is empty. Add a ContentBlock object to the content field and try again.`,
    );
  let results = true;
  for (const [nth, block] of content.entries()) {
    const path = `messages.${at}.content.${nth}`;
    const kinds = Object.keys(block);
    if (kinds.length !== 1)
      say(path, `${path}: a ContentBlock holds exactly one member, found ${kinds.join(", ")}`);
    checkBlank(block, path, say);
    const use = objectIn(block.toolUse);
    const result = objectIn(block.toolResult);
    if (message.role === "user" && (use !== undefined || block.reasoningContent !== undefined))
      say(
        path,
        "User messages cannot contain reasoning content or tool uses. Please remove them and try again.",
      );
    if (message.role === "assistant" && result !== undefined && result.type === undefined)
      say(path, "Tool results must stand in user messages.");
    if (use !== undefined) checkUse(use, path, ids, say);
    if (result === undefined) {
      if (block.cachePoint === undefined) results = false;
      continue;
    }
    if (!results && message.role === "user")
      say(path, `${path}: toolResult blocks must come before other content`);
    if (!/^[a-zA-Z0-9_.:-]{1,64}$/.test(String(result.toolUseId)))
      say(
        path,
        `Value '${String(result.toolUseId)}' at '${path}.toolResult.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+`,
      );
    const inner = listIn(result.content);
    if (inner.length === 0) say(path, `The content field in the ToolResultBlock at ${path} is empty.`);
    if (result.status === "error" && objectsIn(inner).some((one) => typeof one.text !== "string"))
      say(path, `${path}.tool_result: all content must be type \`text\` if \`is_error\` is true`);
    for (const [n, one] of inner.entries()) checkBlank(one, `${path}.toolResult.content.${n}`, say);
  }
  checkDocuments(content, at, say);
}

function checkUse(use: JsonObject, path: string, ids: Set<string>, say: Say): void {
  const id = String(use.toolUseId);
  if (!/^[a-zA-Z0-9_.:-]{1,64}$/.test(id))
    say(
      path,
      `Value '${id}' at '${path}.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+`,
    );
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(use.name)))
    say(
      path,
      `Value '${String(use.name)}' at '${path}.toolUse.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`,
    );
  if (!isObject(use.input))
    say(
      path,
      `The format of the value at ${path}.toolUse.input is invalid. Provide a json object for the field and try again.`,
    );
  if (ids.has(id)) say(path, `${path}: toolUse ids must be unique, found ${id} twice`);
  ids.add(id);
}

function checkDocuments(content: readonly JsonObject[], at: number, say: Say): void {
  const documents = content.map((block) => block.document).filter(isObject);
  if (documents.length === 0) return;
  if (!content.some((block) => typeof block.text === "string"))
    say(`messages.${at}`, "A text block must be included when a document is provided in the conversation.");
  for (const document of documents)
    if (!/^[a-zA-Z0-9\-()[\] ]{1,200}$/.test(String(document.name)) || / {2}/.test(String(document.name)))
      say(
        `messages.${at}`,
        "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.",
      );
}

/** No two documents of a request may have one name, wherever they are. */
function checkNames(messages: readonly JsonObject[], say: Say): void {
  const names = new Set<string>();
  for (const [at, message] of messages.entries())
    for (const block of contentOf(message))
      for (const one of [block, ...objectsIn(objectIn(block.toolResult)?.content)]) {
        const document = objectIn(one.document);
        if (document === undefined) continue;
        const name = String(document.name);
        if (names.has(name)) say(`messages.${at}`, "Messages can't contain duplicate document names.");
        names.add(name);
      }
}

function idsIn(message: JsonObject | undefined, member: "toolUse" | "toolResult"): string[] {
  return contentOf(message)
    .map((block) => block[member])
    .filter(isObject)
    .filter((one) => one.type === undefined)
    .map((one) => String(one.toolUseId));
}

function checkPairs(messages: readonly JsonObject[], at: number, say: Say): void {
  const message = messages[at];
  if (message?.role === "assistant") {
    const results = idsIn(messages[at + 1], "toolResult");
    const missing = idsIn(message, "toolUse").filter((id) => !results.includes(id));
    if (missing.length > 0)
      say(
        `messages.${at}`,
        `Expected toolResult blocks at messages.${at + 1}.content for the following Ids: ${missing.join(", ")}`,
      );
    return;
  }
  const results = idsIn(message, "toolResult");
  const uses = idsIn(messages[at - 1], "toolUse");
  if (results.some((id) => !uses.includes(id)) || new Set(results).size !== results.length)
    say(
      `messages.${at}`,
      `The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`,
    );
}

function checkTools(body: JsonObject, messages: readonly JsonObject[], say: Say): void {
  const config = objectIn(body.toolConfig);
  const tools = objectsIn(config?.tools);
  const uses = messages.some(
    (message) => idsIn(message, "toolUse").length + idsIn(message, "toolResult").length > 0,
  );
  if (uses && config === undefined)
    say(
      "toolConfig",
      "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    );
  if (config !== undefined && tools.length === 0)
    say("toolConfig", "toolConfig.tools: Member must have length greater than or equal to 1");
  const names = new Set<string>();
  for (const [at, tool] of tools.entries()) {
    const spec = objectIn(tool.toolSpec);
    if (spec === undefined) continue;
    const path = `toolConfig.tools.${at}`;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(spec.name)))
      say(
        path,
        `Value '${String(spec.name)}' at '${path}.member.toolSpec.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`,
      );
    if (names.has(String(spec.name)))
      say(path, `The tool ${String(spec.name)} is already defined at toolConfig.tools`);
    names.add(String(spec.name));
    const schema = membersIn(membersIn(spec.inputSchema).json);
    if (schema.type !== "object")
      say(path, `The value at ${path}.toolSpec.inputSchema.json.type must be one of the following: object.`);
    if (spec.description === "")
      say(path, `${path}.toolSpec.description: Member must have length greater than or equal to 1`);
  }
  const choice = isObject(config?.toolChoice) ? config.toolChoice : undefined;
  const named = isObject(choice?.tool) ? String(choice.tool.name) : undefined;
  if (named !== undefined && !names.has(named))
    say("toolConfig.toolChoice", `The tool ${named} is not defined at toolConfig.tools`);
  const extra = membersIn(body.additionalModelRequestFields);
  const thinking = objectIn(extra.thinking)?.type;
  if (
    (thinking === "enabled" || thinking === "adaptive") &&
    (named !== undefined || choice?.any !== undefined)
  )
    say("toolConfig.toolChoice", "Thinking may not be enabled when tool_choice forces tool use.");
}
