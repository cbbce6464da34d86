// The room of stored sessions: what a case's session file contains, and which part of it is torn.
//
// The file is in no agent's format. Its whole lines give the conversation; the torn tail is appended byte for byte to
// Rondo's own file of such a session.

import { type Message, textOf } from "@rondo/core";
import type { Case, Data } from "./format.ts";
import { historyOf } from "./given-messages.ts";
import { needsOthers } from "./other-processes.ts";

export interface StoredSession {
  history: Message[];
  /** The texts in it. */
  texts: string[];
  torn: string;
}

/** The session that a case loads; undefined if it loads none, or another process opens it. */
export function storedSession(one: Case): StoredSession | undefined {
  const file = one.wire?.session_file_text;
  if (file === undefined || needsOthers(one.actions)) return undefined;
  const lines = file.replace(/^\uFEFF/, "").split("\n");
  const whole = lines.flatMap((line): Data[] => read(line)).filter((line) => !headers.has(String(line.type)));
  // A writer cuts a torn line off before it appends. A torn line has no end, unless a page of the file was lost.
  const left = lines.slice(lines.findLastIndex((line) => read(line).length > 0) + 1).join("\n");
  const torn = left.includes("\0") ? left : left.trimEnd();
  const history = historyOf({ ...one.given, history: whole.map(message) }, one.provider);
  const texts = history.map((said) => textOf(said)).filter((text) => text !== "");
  return {
    history: history.some((said) => said.role === "user") ? history : [goOn, ...history],
    texts,
    torn,
  };
}

/** Lines about the file itself. */
const headers: ReadonlySet<string> = new Set(["session", "header", "meta"]);

const goOn: Message = { role: "user", content: [{ type: "text", text: "go on" }] };

function read(line: string): Data[] {
  try {
    const data = JSON.parse(line) as unknown;
    return typeof data === "object" && data !== null ? [data as Data] : [];
  } catch {
    return [];
  }
}

/** A line as a message: `type` is the role if there is none; calls may be next to the text or among its blocks. */
function message(line: Data): Data {
  const { type, role = type, message: inner, content, tool_calls: calls, ...rest } = line;
  if (isData(inner)) return message(inner);
  const { text = content, ...others } = rest;
  if (role === "tool_call") return { role: "assistant", parts: [{ tool_call: { ...rest } }] };
  if (role === "tool_result" || (role === "tool" && rest.results === undefined))
    return { role: "tool", results: [result({ ...others, text })] };
  const blocks = (Array.isArray(content) ? content : []).filter(isData);
  const results = blocks.filter((block) => block.type === "tool_result");
  if (results.length > 0) return { role: "tool", results: results.map(result) };
  const parts = [
    ...(typeof text === "string" ? [{ text }] : []),
    ...blocks.flatMap(part),
    ...(Array.isArray(calls) ? calls.filter(isData) : []).map((call) => ({ tool_call: called(call) })),
  ];
  return { role, ...others, ...(parts.length > 0 ? { parts } : {}) };
}

const isData = (value: unknown): value is Data => typeof value === "object" && value !== null;

/** A block of a provider's list as a part. */
function part(block: Data): Data[] {
  if (block.type === "tool_use" || block.type === "tool_call") return [{ tool_call: called(block) }];
  return typeof block.text === "string" ? [{ text: block.text }] : [];
}

/** A call in the format of the cases, of Chat Completions or of Claude. */
function called({ id, function: fn, input, ...call }: Data): Data {
  const { name = call.name, arguments: args = call.arguments ?? input } = isData(fn) ? fn : {};
  return { id, name, ...(typeof args === "string" ? { arguments_raw: args } : { arguments: args ?? {} }) };
}

function result({ id, tool_call_id = id, tool_use_id = tool_call_id, text, content = text }: Data): Data {
  return { id: tool_use_id, text: typeof content === "string" ? content : JSON.stringify(content ?? "") };
}
