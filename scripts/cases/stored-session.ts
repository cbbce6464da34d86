// The room of stored sessions: what a case's session file contains, and which part of it is torn.
//
// The file is in no agent's format. Its whole lines give the conversation; the torn tail is appended byte for byte to
// Rondo's own file of such a session.

import { callsOf, type Message, textOf } from "@rondo/core";
import type { Case, Data } from "./format.ts";
import { historyOf } from "./given-messages.ts";
import { needsOthers } from "./other-processes.ts";

export interface StoredSession {
  history: Message[];
  /** The texts in it, without those of results that answer no call, or one that is answered already: they have no place in a conversation. */
  texts: string[];
  torn: string;
}

/** The session that a case loads; undefined if it loads none, or another process opens it. */
export function storedSession(one: Case): StoredSession | undefined {
  const file = one.wire?.session_file_text;
  if (file === undefined || needsOthers(one.actions)) return undefined;
  const lines = file.replace(/^\uFEFF/, "").split("\n");
  const whole = lines.flatMap((line): Data[] => read(line)).flatMap(message);
  // A writer cuts a torn line off before it appends. A torn line has no end, unless a page of the file was lost.
  const left = lines.slice(lines.findLastIndex((line) => read(line).length > 0) + 1).join("\n");
  const torn = left.includes("\0") ? left : left.trimEnd();
  const history = historyOf({ ...one.given, history: whole }, one.provider);
  const texts = history
    .filter((said, at) => said.role !== "tool" || answers(said.callId, history.slice(0, at)))
    .map((said) => textOf(said))
    .filter((text) => text !== "");
  return {
    history: history.some((said) => said.role === "user") ? history : [goOn, ...history],
    texts,
    torn,
  };
}

/** Whether a result answers a call among the messages before it. */
function answers(call: string, before: readonly Message[]): boolean {
  const called = before.findLastIndex(
    (said) => said.role === "assistant" && callsOf(said).some(({ id }) => id === call),
  );
  const answered = before.findLastIndex((said) => said.role === "tool" && said.callId === call);
  return called > answered;
}

const goOn: Message = { role: "user", content: [{ type: "text", text: "go on" }] };

function read(line: string): Data[] {
  try {
    const data = JSON.parse(line) as unknown;
    return typeof data === "object" && data !== null ? [data as Data] : [];
  } catch {
    return [];
  }
}

/**
 * A line as a message: `type` is the role if there is none; calls may be next to the text or among its blocks. Nothing for a
 * line about something else. What else a program writes beside a message is no part of it.
 */
function message(line: Data): Data[] {
  const { type, message: inner = line.payload, content, tool_calls: calls, ...rest } = line;
  if (isData(inner)) return message(inner);
  const role = roles[String(line.role ?? type)];
  if (role === undefined) return [];
  const { text = content } = rest;
  const blocks = [content, rest.parts].flatMap((list) => (Array.isArray(list) ? list.filter(isData) : []));
  if (role === "tool_call")
    return [{ role: "assistant", parts: [{ tool_call: called({ ...rest, id: idOf(rest) }) }] }];
  const isResult = rest.results === undefined && (role === "tool" || blocks.some(isResultBlock));
  if (isResult) {
    const results = blocks.filter(isResultBlock);
    return [{ role: "tool", results: (results.length > 0 ? results : [{ ...rest, text }]).map(result) }];
  }
  const parts = [
    ...(typeof text === "string" ? [{ text }] : []),
    ...blocks.flatMap(part),
    ...(Array.isArray(calls) ? calls.filter(isData) : []).map((call) => ({ tool_call: called(call) })),
  ];
  const { results } = rest;
  return [{ role, ...(results === undefined ? {} : { results }), ...(parts.length > 0 ? { parts } : {}) }];
}

/** Roles and types of lines, as several programs write them. */
const roles: { readonly [word: string]: string | undefined } = {
  user: "user",
  human: "user",
  assistant: "assistant",
  model: "assistant",
  system: "system",
  tool: "tool",
  toolResult: "tool",
  tool_result: "tool",
  function_call_output: "tool",
  tool_call: "tool_call",
  function_call: "tool_call",
};

const isData = (value: unknown): value is Data => typeof value === "object" && value !== null;
const isResultBlock = (block: Data): boolean =>
  block.type === "tool_result" || isData(block.functionResponse);
const idOf = ({ id, call_id = id }: Data): unknown => call_id;

/** A block of a provider's list as a part, or a part of a case. */
function part(block: Data): Data[] {
  if (isData(block.functionCall))
    return [{ tool_call: called({ ...block.functionCall, id: block.functionCall.name }) }];
  if (["tool_use", "tool_call", "toolCall"].includes(String(block.type)))
    return [{ tool_call: called(block) }];
  if (block.type === undefined) return [block];
  return typeof block.text === "string" ? [{ text: block.text }] : [];
}

/** A call in the format of the cases, of Chat Completions, Claude or Gemini. */
function called({ id, function: fn, input, args: inner = input, ...call }: Data): Data {
  const { name = call.name, arguments: args = call.arguments ?? inner } = isData(fn) ? fn : {};
  return { id, name, ...(typeof args === "string" ? { arguments_raw: args } : { arguments: args ?? {} }) };
}

function result(block: Data): Data {
  const { functionResponse: response } = block;
  if (isData(response)) return { id: response.name, text: JSON.stringify(response.response ?? {}) };
  const {
    id,
    tool_call_id = id,
    tool_use_id = tool_call_id,
    call_id = tool_use_id,
    toolCallId = call_id,
  } = block;
  const { text, output = text, content = output } = block;
  return { id: toolCallId, text: typeof content === "string" ? content : JSON.stringify(content ?? "") };
}
