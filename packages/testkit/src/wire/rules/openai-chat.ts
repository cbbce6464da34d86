// The room of what OpenAI's Chat Completions refuses: a request body in, its violations out, in the server's own words.
//
// This is written from the outside, from what servers answer with status 400; it knows nothing of any codec. Rules that
// only some servers have are asked for by name.

import type { Json, JsonObject } from "@rondo/core";
import { listIn, membersIn, objectIn } from "../../json.ts";
import { checkOpenaiStrict, checkToolTop } from "./schemas.ts";
import { breaches, checkWellFormed, indexed, type Say, type Violation } from "./violation.ts";

/** Rules of single servers, on top of OpenAI's. */
export interface ChatRules {
  /** Mistral: ids are nine letters or digits, no user after tool, no assistant last. */
  mistral?: boolean;
  /** xAI, llama.cpp: no message without content, unless it has calls. */
  noEmptyContent?: boolean;
  /** Jinja templates: roles alternate. */
  alternate?: boolean;
  /** Groq, Mistral, Cerebras: reasoning fields that are refused. */
  refusedFields?: readonly string[];
  /** Groq and older servers: content that is all text must be a text. */
  stringContent?: boolean;
  /** Templates that go through the arguments of calls: an object is taken as well. */
  objectArguments?: boolean;
  /** Databricks: reasoning is a part of an answer's content. */
  reasoningParts?: boolean;
  /** Mistral: an answer's content may begin with its thinking. */
  thinkingFirst?: boolean;
  /** vLLM, OpenRouter, Alibaba and others: a user may show a video. */
  videos?: boolean;
}

const nameForm = /^[a-zA-Z0-9_-]{1,64}$/;

/** Checks a body as it went over the wire: the text, or what it parses to. */
export function checkOpenaiChatRequest(given: string | Json, rules: ChatRules = {}): Violation[] {
  const { found, say } = breaches();
  const body = bodyOf(given, say);
  if (body === undefined) return found;
  if (typeof body.model !== "string" || body.model === "") say("model", "you must provide a model parameter");
  checkTools(body, say, (tool) => objectIn(tool.function), "function.");
  const messages = listIn(body.messages);
  if (messages.length === 0)
    say(
      "messages",
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    );
  checkMessages(messages, rules, say);
  if (rules.mistral === true && objectIn(messages.at(-1))?.role === "assistant")
    say(
      "messages",
      "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    );
  return found;
}

function checkMessages(messages: readonly Json[], rules: ChatRules, say: Say): void {
  const calls = new UnansweredCalls(say);
  for (const [at, one] of messages.entries()) {
    const path = `messages[${at}]`;
    const message = objectIn(one);
    if (message === undefined) {
      say(path, `Invalid type for '${path}': expected an object.`);
      continue;
    }
    if (!["system", "developer", "user", "assistant", "tool"].includes(String(message.role)))
      say(
        `${path}.role`,
        `Invalid value: '${String(message.role)}'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'.`,
      );
    checkFields(message, path, rules, say);
    if (message.role === "system" && message.tools !== undefined) checkToldTools(message, path, say);
    else checkContent(message, path, rules, say);
    if (message.role === "tool") {
      calls.answered(message.tool_call_id, at);
      continue;
    }
    calls.close();
    if (message.role === "assistant" && message.tool_calls !== undefined)
      calls.open(checkCalls(message.tool_calls, path, rules, say), at);
    if (at > 0) checkTurn(message.role, objectIn(messages[at - 1])?.role, path, rules, say);
  }
  calls.close();
}

/** The calls of the last assistant message that have no result yet. */
class UnansweredCalls {
  readonly #say: Say;
  #last: { ids: Set<string>; at: number } | undefined;

  constructor(say: Say) {
    this.#say = say;
  }

  open(ids: Set<string>, at: number): void {
    this.#last = { ids, at };
  }

  answered(id: Json | undefined, at: number): void {
    if (typeof id !== "string" || this.#last === undefined)
      this.#say(
        `messages[${at}]`,
        "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
      );
    else if (!this.#last.ids.delete(id))
      this.#say(`messages[${at}]`, `Duplicate value for 'tool_call_id' of ${id} in message[${at}]`);
  }

  /** After this, no call may be answered any more. */
  close(): void {
    const { ids, at } = this.#last ?? {};
    if (ids !== undefined && ids.size > 0)
      this.#say(
        `messages[${at}]`,
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...ids].join(", ")}`,
      );
    this.#last = undefined;
  }
}

/** Whose turn it is after whose. */
function checkTurn(
  role: Json | undefined,
  before: Json | undefined,
  path: string,
  rules: ChatRules,
  say: Say,
): void {
  if (rules.mistral === true && role === "user" && before === "tool")
    say(path, "Unexpected role 'user' after role 'tool'");
  if (rules.alternate === true && role === before)
    say(
      path,
      "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
    );
}

/** The body parsed, with the complaint of a server that cannot read it. */
export function bodyOf(given: string | Json, say: Say): JsonObject | undefined {
  let value: Json = given;
  if (typeof given === "string") {
    try {
      value = JSON.parse(given) as Json;
    } catch (thrown) {
      say("$", `We could not parse the JSON body of your request: ${(thrown as Error).message}`);
      return undefined;
    }
  }
  // A lone surrogate as an escape is JSON to some parsers and none to others.
  checkWellFormed(value, "", say, indexed);
  const body = objectIn(value);
  if (body === undefined) say("$", "The request body must be a JSON object");
  return body;
}

/** Kimi's way to tell of tools in the middle of a conversation: a system message of tools alone. */
function checkToldTools({ tools, content }: JsonObject, path: string, say: Say): void {
  if (content !== undefined)
    say(`${path}.content`, `Invalid request: ${path} has tools, and must have no content.`);
  if (listIn(tools).length === 0) say(`${path}.tools`, `Invalid request: ${path} has no tools.`);
}

/** The output's schema, tools, and the choice among them. `unwrap` finds the function in a tool; undefined leaves it alone. */
export function checkTools(body: JsonObject, say: Say, unwrap: Unwrap, prefix: string): void {
  checkOutputSchema(body, say);
  const tools = listIn(body.tools);
  if (body.tools !== undefined && tools.length === 0) say("tools", "[] is too short - 'tools'");
  if (body.tools === undefined)
    for (const member of ["tool_choice", "parallel_tool_calls"])
      if (body[member] !== undefined) say(member, `'${member}' is only allowed when 'tools' are specified.`);
  if (tools.length > 128)
    say(
      "tools",
      `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${tools.length} instead.`,
    );
  const names = new Set<string>();
  for (const [at, tool] of tools.entries()) {
    const fn = unwrap(membersIn(tool));
    if (fn !== undefined) checkFunction(fn, `tools[${at}].${prefix}`, names, say);
  }
  // Where there are no tools at all, that was said.
  if (tools.length > 0) checkChoice(body.tool_choice, names, say, unwrap);
}

type Unwrap = (tool: JsonObject) => JsonObject | undefined;

function checkOutputSchema(body: JsonObject, say: Say): void {
  const form = objectIn(membersIn(body.response_format).json_schema) ?? objectIn(membersIn(body.text).format);
  const root = objectIn(form?.schema);
  if (root !== undefined && root.type !== "object")
    say(
      "schema",
      `Invalid schema for response_format: schema must be a JSON Schema of 'type: "object"', got 'type: "${String(root.type ?? null)}"'.`,
    );
  if (form?.strict === true)
    checkOpenaiStrict(form.schema, "schema", (at, what) =>
      say(at, `Invalid schema for response_format: ${what}`),
    );
}

/** @param names of the functions before it; its own is added */
function checkFunction(fn: JsonObject, path: string, names: Set<string>, say: Say): void {
  const name = String(fn.name ?? "");
  checkName(name, `${path}name`, say);
  if (names.has(name)) say(`${path}name`, `Duplicate function name: ${name}`);
  names.add(name);
  const broken = (at: string, what: string): void =>
    say(at, `Invalid schema for function '${name}': ${what}`);
  checkToolTop(fn.parameters, `${path}parameters`, broken);
  if (fn.strict === true) checkOpenaiStrict(fn.parameters, `${path}parameters`, broken);
}

function checkChoice(choice: Json | undefined, names: ReadonlySet<string>, say: Say, unwrap: Unwrap): void {
  for (const chosen of chosenIn(objectIn(choice) ?? {})) {
    const name = unwrap(chosen)?.name;
    if (chosen.type === "function" && !names.has(String(name)))
      say(
        "tool_choice",
        `Invalid value for 'tool_choice': no function named '${String(name)}' was specified in the 'tools' parameter.`,
      );
  }
}

/** The tools that a choice names: the one that is forced, or those that are allowed. */
function chosenIn(choice: JsonObject): JsonObject[] {
  if (choice.type !== "allowed_tools") return [choice];
  return listIn(choice.tools ?? membersIn(choice.allowed_tools).tools).map(membersIn);
}

export function checkName(name: string, path: string, say: Say): void {
  if (name === "")
    say(
      path,
      `Invalid '${path}': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
    );
  else if (name.length > 64)
    say(
      path,
      `Invalid '${path}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`,
    );
  else if (!nameForm.test(name))
    say(
      path,
      `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    );
}

const messageFields: { readonly [role: string]: ReadonlySet<string> } = {
  system: new Set(["role", "content", "name", "tools"]),
  developer: new Set(["role", "content", "name"]),
  user: new Set(["role", "content", "name"]),
  tool: new Set(["role", "content", "tool_call_id", "name"]),
  assistant: new Set([
    "role",
    "content",
    "name",
    "tool_calls",
    "function_call",
    "refusal",
    "audio",
    // Whoever sends an answer back as it came sends this.
    "annotations",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "reasoning_text",
    "reasoning_opaque",
    "thinking_blocks",
  ]),
};

function checkFields(message: JsonObject, path: string, rules: ChatRules, say: Say): void {
  const allowed = messageFields[String(message.role)];
  for (const field of Object.keys(message))
    if (rules.refusedFields?.includes(field) === true || allowed?.has(field) === false)
      say(
        `${path}.${field}`,
        `'${path}' : for 'role:${String(message.role)}' the following must be satisfied[('${path}' : property '${field}' is unsupported)]`,
      );
}

const partTypes: { readonly [role: string]: readonly string[] } = {
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
  system: ["text"],
  developer: ["text"],
  tool: ["text"],
};

function checkContent(message: JsonObject, path: string, rules: ChatRules, say: Say): void {
  const { content, role } = message;
  const calls = message.role === "assistant" && listIn(message.tool_calls).length > 0;
  if (content === undefined || content === null) {
    if (!calls && message.refusal === undefined && message.audio === undefined)
      say(`${path}.content`, `Invalid value for 'content': expected a string, got null.`);
    return;
  }
  if (typeof content === "string") {
    if (content.trim() === "" && !calls && (rules.noEmptyContent === true || role === "assistant"))
      say(`${path}.content`, "Invalid request content: Each message must have at least one content element.");
    return;
  }
  const parts = listIn(content);
  if (parts.length === 0)
    say(`${path}.content`, "Invalid request content: Each message must have at least one content element.");
  if (rules.stringContent === true && parts.every((part) => objectIn(part)?.type === "text"))
    say(`${path}.content`, `('${path}.content' : value must be a string)`);
  for (const [at, one] of parts.entries()) {
    const part = objectIn(one);
    const type = String(part?.type);
    if (rules.reasoningParts === true && role === "assistant" && type === "reasoning") continue;
    if (rules.thinkingFirst === true && role === "assistant" && type === "thinking" && at === 0) continue;
    if (rules.videos === true && role === "user" && type === "video_url") continue;
    if (part?.type === "image_url" && role !== "user")
      say(
        path,
        `Invalid '${path}'. Image URLs are only allowed for messages with role 'user', but this message with role '${String(role)}' contains an image URL.`,
      );
    else if (partTypes[String(role)]?.includes(type) === false)
      say(
        `${path}.content[${at}].type`,
        `Invalid value: '${type}'. Supported values are: ${partTypes[String(role)]?.map((word) => `'${word}'`).join(", ")}.`,
      );
    if (
      part?.type === "image_url" &&
      !/^(?:https?:|data:image\/)/.test(String(objectIn(part.image_url)?.url))
    )
      say(`${path}.content[${at}].image_url`, "Invalid image URL.");
  }
}

/** The calls' own rules; returns the ids that need an answer. */
function checkCalls(given: Json, path: string, rules: ChatRules, say: Say): Set<string> {
  const calls = listIn(given);
  if (calls.length === 0)
    say(
      `${path}.tool_calls`,
      `Invalid '${path}.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    );
  const ids = new Set<string>();
  for (const [at, one] of calls.entries()) {
    const where = `${path}.tool_calls[${at}]`;
    const call = objectIn(one);
    const id = String(call?.id ?? "");
    if (id === "" || id.length > 40)
      say(
        `${where}.id`,
        `Invalid '${where}.id': string too ${id === "" ? "short" : "long"}. Expected a string with maximum length 40, but got a string with length ${id.length} instead.`,
      );
    if (rules.mistral === true && !/^[a-zA-Z0-9]{9}$/.test(id))
      say(`${where}.id`, `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`);
    if (ids.has(id)) say(`${where}.id`, `Duplicate value for 'tool_call_id' of ${id} in ${path}`);
    ids.add(id);
    if (call?.type !== "function") say(`${where}.type`, `Missing required parameter: '${where}.type'.`);
    const fn = objectIn(call?.function);
    checkName(String(fn?.name ?? ""), `${where}.function.name`, say);
    if (rules.objectArguments !== true || objectIn(fn?.arguments) === undefined)
      checkArguments(fn?.arguments, `${where}.function.arguments`, say);
  }
  return ids;
}

/** Templates parse the arguments of the whole history again: text that is no JSON object fails every later request. */
export function checkArguments(given: Json | undefined, path: string, say: Say): void {
  try {
    if (typeof given === "string" && objectIn(JSON.parse(given) as Json) !== undefined) return;
  } catch {
    // Said below.
  }
  say(path, `Failed to parse tool call arguments as JSON: ${JSON.stringify(given)?.slice(0, 80)}`);
}
