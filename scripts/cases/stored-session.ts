// The room of stored sessions: what a case's session file holds, and what of it is torn.
//
// The file is in no agent's own form. What stands in its whole lines is what was said; what a crash left of the rest is
// put behind Rondo's own file of such a session, byte for byte.

import { type Message, textOf } from "@rondo/core";
import type { Case, Data } from "./format.ts";
import { historyOf } from "./given-messages.ts";
import { needsOthers } from "./other-processes.ts";

export interface StoredSession {
  history: Message[];
  /** What was said in it. */
  texts: string[];
  torn: string;
}

/** The session that a case loads; undefined where it loads none, or another process is to open it. */
export function storedSession(one: Case): StoredSession | undefined {
  const file = one.wire?.session_file_text;
  if (file === undefined || needsOthers(one.actions)) return undefined;
  const lines = file.replace(/^\uFEFF/, "").split("\n");
  const whole = lines.flatMap((line): Data[] => read(line)).filter((line) => !headers.has(String(line.type)));
  // Whoever wrote behind a torn line cut it off first; and what is torn has no end, unless a page of it was lost.
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

/** Lines that are about the file. */
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

/** A line as a message of a history: `type` is the role where there is none, calls may stand beside the text. */
function message(line: Data): Data {
  const { type, role = type, message: inner, content, tool_calls: calls, ...rest } = line;
  if (typeof inner === "object" && inner !== null) return message(inner as Data);
  if (role === "tool_call") return { role: "assistant", parts: [{ tool_call: { ...rest } }] };
  if (role === "tool_result" || (role === "tool" && rest.results === undefined)) {
    const { id, tool_call_id = id, text = content } = rest;
    return { role: "tool", results: [{ id: tool_call_id, text }] };
  }
  const said = rest.text ?? content;
  if (!Array.isArray(calls)) return { role, ...rest, ...(said === undefined ? {} : { text: said }) };
  const parts = [
    ...(said === undefined ? [] : [{ text: said }]),
    ...calls.map((call: unknown) => ({ tool_call: call })),
  ];
  const { text: _, ...others } = rest;
  return { role, ...others, parts };
}
