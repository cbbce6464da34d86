// The room of what OpenAI's Responses API refuses: a request body in, its violations out, in the server's own words.

import type { Json, JsonObject } from "@rondo/core";
import { listIn, membersIn } from "../../json.ts";
import { bodyOf, checkArguments, checkName, checkTools } from "./openai-chat.ts";
import { breaches, type Say, type Violation } from "./violation.ts";

const idForms: { readonly [type: string]: string } = {
  function_call: "fc",
  message: "msg",
  reasoning: "rs",
  custom_tool_call: "ctc",
};
const outputs = new Set(["function_call_output", "custom_tool_call_output"]);
const inputParts = new Set(["input_text", "input_image", "input_file"]);

/** Checks a body as it went over the wire: the text, or what it parses to. */
export function checkOpenaiResponsesRequest(given: string | Json): Violation[] {
  const { found, say } = breaches();
  const body = bodyOf(given, say);
  if (body === undefined) return found;
  if (typeof body.model !== "string" || body.model === "") say("model", "you must provide a model parameter");
  checkTools(body, say, (tool) => (tool.type === "function" ? tool : undefined), "");
  // A text by itself is what the user says.
  if (typeof body.input === "string") return found;
  const input = listIn(body.input).map(membersIn);
  const goesOn = [body.previous_response_id, body.conversation].some((id) => (id ?? null) !== null);
  if (input.length === 0 && !goesOn)
    say("input", "Invalid 'input': empty array. Expected an array with minimum length 1.");
  for (const [at, item] of input.entries()) checkItem(item, at, body, say);
  checkPairs(input, goesOn, say);
  checkReasoning(input, say);
  checkAdditionalTools(body, input, say);
  return found;
}

function checkItem(item: JsonObject, at: number, body: JsonObject, say: Say): void {
  const path = `input[${at}]`;
  const type = String(item.type ?? "message");
  if (type === "item_reference") {
    if (body.store === false)
      say(
        path,
        `Item with id '${String(item.id)}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
      );
    return;
  }
  if (item.status === "incomplete")
    say(`${path}.status`, `Invalid value: 'incomplete' for '${path}.status'.`);
  const prefix = idForms[type];
  if (item.id !== undefined && prefix !== undefined && !String(item.id).startsWith(prefix))
    say(
      `${path}.id`,
      `Invalid '${path}.id': '${String(item.id)}'. Expected an ID that begins with '${prefix}'.`,
    );
  else if (typeof item.id === "string" && prefix !== undefined) checkId(item.id, `${path}.id`, say);
  if (type === "message") checkMessage(item, path, say);
  if (type === "function_call") {
    checkName(String(item.name ?? ""), `${path}.name`, say);
    checkArguments(item.arguments, `${path}.arguments`, say);
  }
  if (type === "function_call" || type === "custom_tool_call" || outputs.has(type))
    checkId(String(item.call_id ?? ""), `${path}.call_id`, say);
  if (outputs.has(type)) checkOutput(item.output, path, say);
  if (type !== "reasoning") return;
  if (!Array.isArray(item.summary)) say(`${path}.summary`, `Missing required parameter: '${path}.summary'.`);
  if (item.status !== undefined) say(`${path}.status`, `Unknown parameter: '${path}.status'.`);
}

function checkId(id: string, path: string, say: Say): void {
  if (id.length > 64)
    say(
      path,
      `Invalid '${path}': string too long. Expected a string with maximum length 64, but got a string with length ${id.length} instead.`,
    );
  else if (!/^[A-Za-z0-9_-]+$/.test(id))
    say(
      path,
      `Invalid '${path}': '${id}'. Expected an ID that contains letters, numbers, underscores, or dashes.`,
    );
}

function checkMessage(item: JsonObject, path: string, say: Say): void {
  const role = String(item.role);
  if (!["user", "assistant", "system", "developer"].includes(role))
    say(
      `${path}.role`,
      `Invalid value: '${role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
    );
  if (typeof item.content === "string") return;
  const parts = listIn(item.content);
  if (parts.length === 0) say(`${path}.content`, `Invalid '${path}.content': empty array.`);
  const allowed = role === "assistant" ? new Set(["output_text", "refusal"]) : inputParts;
  for (const [at, part] of parts.entries()) {
    const type = String(membersIn(part).type);
    if (!allowed.has(type))
      say(
        `${path}.content[${at}]`,
        `Invalid value: '${type}'. Supported values are: ${[...allowed].map((word) => `'${word}'`).join(" and ")}.`,
      );
  }
}

function checkOutput(output: Json | undefined, path: string, say: Say): void {
  if (typeof output === "string") return;
  if (!Array.isArray(output) || output.length === 0) {
    say(`${path}.output`, `Missing required parameter: '${path}.output'.`);
    return;
  }
  for (const [at, part] of output.entries())
    if (!inputParts.has(String(membersIn(part).type)))
      say(`${path}.output[${at}]`, `Invalid value: '${String(membersIn(part).type)}'.`);
}

/** @param goesOn the server holds what came before: calls may stand there */
function checkPairs(input: readonly JsonObject[], goesOn: boolean, say: Say): void {
  const calls = new Map<string, number>();
  const answered = new Set<string>();
  for (const [at, item] of input.entries()) {
    const type = String(item.type);
    const id = String(item.call_id);
    if (type === "function_call" || type === "custom_tool_call") {
      if (calls.has(id)) say(`input[${at}]`, `Duplicate call_id ${id}.`);
      calls.set(id, at);
    } else if (outputs.has(type)) {
      const call = calls.get(id);
      if (call === undefined) {
        if (!goesOn) say(`input[${at}]`, `No tool call found for function call output with call_id ${id}.`);
      } else if (answered.has(id)) say(`input[${at}]`, `Found multiple outputs for call_id ${id}.`);
      else if (`${String(input[call]?.type)}_output` !== type)
        say(`input[${at}]`, `No tool call found for ${type} with call_id ${id}.`);
      answered.add(id);
    }
  }
  for (const [id, at] of calls)
    if (!answered.has(id)) say(`input[${at}]`, `No tool output found for function call ${id}.`);
}

/** A reasoning item and what the model said next are one unit. */
function checkReasoning(input: readonly JsonObject[], say: Say): void {
  for (const [at, item] of input.entries()) {
    if (item.type !== "reasoning") continue;
    const next = input[at + 1];
    const type = next?.type ?? (next === undefined ? "none" : "message");
    const follows =
      type !== "none" && !outputs.has(String(type)) && !(type === "message" && next?.role !== "assistant");
    if (!follows)
      say(
        `input[${at}]`,
        `Item '${String(item.id)}' of type 'reasoning' was provided without its required following item.`,
      );
  }
}

/** Tools may be declared in the middle of the input, but none of them twice, and not between the calls of an answer and their results. */
function checkAdditionalTools(body: JsonObject, input: readonly JsonObject[], say: Say): void {
  const names = new Set(listIn(body.tools).map((tool) => membersIn(tool).name));
  for (const [at, item] of input.entries()) {
    if (item.type !== "additional_tools") continue;
    const path = `input[${at}]`;
    if (item.role !== "developer")
      say(`${path}.role`, `Invalid value: '${String(item.role)}'. Supported values are: 'developer'.`);
    const tools = listIn(item.tools).map(membersIn);
    if (tools.length === 0) say(`${path}.tools`, `Missing required parameter: '${path}.tools'.`);
    for (const { name } of tools) {
      if (names.has(name)) say(`${path}.tools`, `Duplicate function name: ${String(name)}`);
      names.add(name);
    }
    if (outputs.has(String(input[at + 1]?.type)))
      say(path, `No tool output found for function call ${String(input[at + 1]?.call_id)}.`);
  }
}
