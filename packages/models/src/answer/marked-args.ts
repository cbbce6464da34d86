// The room of arguments that hold marks of the notation that their call was written in.
//
// A server that misses the end of a value takes what follows it for more of the value: a tag, the whole next argument, or
// the next call. `ls</｜DSML｜parameter` is no command, and a text that swallowed the next argument was not meant so. What
// is missing cannot be known, so such a call never runs.
//
// The same marks may be meant, in a file about them. So a mark counts only where it closes nothing in its value, and never
// if somebody else wrote it in the conversation; a model that was told of it and writes it again means it.

import type { Part } from "@rondo/core";
import type { IsSpokenOf } from "./end-tokens.ts";

/** DeepSeek's mark at the end of a value, and the word in it; nothing else is written with it. */
const cutTag = /<\/?\s?[|｜‖]{1,2}\s?(DSML)(?:\s?[|｜‖]{1,2}\s?\w{0,16}>?)?\s*$/;
/** The most characters that what is looked for at the end takes, with white space after it. */
const longest = 160;

const closing = String.raw`<\/(?:\w{1,8}:)?([\w.-]{1,64})>\s{0,8}`;
/** A value's closing tag, and those of its call: Claude, Qwen, GLM. */
const callsEnd = new RegExp(
  String.raw`${closing}(<\/(?:\w{1,8}:)?(?:invoke|function|tool_call)>)\s{0,8}(?:<\/[\w:]{1,24}>\s{0,8})?$`,
);
/** A value's closing tag, and the beginning of the next argument. */
const nextArgument = new RegExp(String.raw`${closing}(<(?:\w{1,8}:)?parameter(?: name|)=|<arg_key>)`, "g");
/** Kimi's tokens around the next call. */
const nextCall = /<\|tool_call(?:s?_section)?(?:_argument)?_(?:begin|end)\|>/;
/** Gemma's quotation mark, whole or cut, where a text was meant. */
const quote = /<\|"(?:\||>)/;
/** The header of GPT's next call, whose tokens it may not write there: the words in them are left. */
const header = /(?:^|[^\w-])to=(?:functions|multi_tool_use)\.\w/;
/** Tags that close a value, besides one of the argument's own name, which Claude writes at times. */
const closers: ReadonlySet<string> = new Set(["parameter", "arg_value"]);

const fault =
  "the notation that calls are written in left a mark of its own in the arguments, so that they may not be what was meant: make the call again, with all its arguments";

/** The part; a call in whose arguments such marks are must not run, unless somebody spoke of them in the conversation. */
export function withoutMarkedArgs(part: Part, isSpokenOf: IsSpokenOf): Part {
  if (part.type !== "tool_call" || part.argsError !== undefined) return part;
  for (const [key, value] of Object.entries(part.args)) {
    const mark = typeof value === "string" ? markIn(key, value) : undefined;
    if (mark !== undefined && !isSpokenOf(mark)) return { ...part, args: {}, argsError: fault };
  }
  return part;
}

/** The mark in a value that does not belong to it. */
function markIn(key: string, value: string): string | undefined {
  const tail = value.slice(-longest);
  const cut = cutTag.exec(tail)?.[1];
  if (cut !== undefined) return cut;
  const end = callsEnd.exec(tail);
  if (end !== null && closes(end[1] ?? "", key, value)) return end[2];
  // Most values hold neither word, however long they are.
  if (value.includes("parameter") || value.includes("<arg_key>"))
    for (const { 1: name = "", 2: mark, index } of value.matchAll(nextArgument))
      if (closes(name, key, value.slice(0, index))) return mark;
  // In what the model is told of it, the rest of the mark is escaped.
  if (quote.test(value)) return "<|";
  if (value.includes("to=") && header.test(value)) return "to=functions";
  return value.includes("<|tool_call") ? nextCall.exec(value)?.[0] : undefined;
}

/** Whether a tag of this name closes the value itself, and nothing that was opened in it. */
const closes = (name: string, key: string, before: string): boolean =>
  (name === key || closers.has(name)) && !before.includes(`<${name}`);
