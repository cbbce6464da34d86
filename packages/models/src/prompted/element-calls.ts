// The room of calls written as elements: `<function=name><parameter=key>…`, `<invoke name="…"><parameter name="…">…`,
// and a name with `<arg_key>` and `<arg_value>` behind it.
//
// Qwen, GLM, MiniMax, MiniCPM, DeepSeek, Seed and others write them, some with a prefix of their own. A value is text: what the
// schema wants instead is made of it where all arguments are. Forward only, every character looked at once.

import type { Json, JsonObject } from "@rondo/core";
import { putMember } from "../own-member.ts";
import type { CutCall, OwnCall } from "./calls.ts";
import { found, parsed, valueEnd } from "./scan.ts";

const prefix = "(?:[a-z]{1,24}:|｜DSML｜)?";
const opener = new RegExp(
  `<(?:function=["']?([\\w.:-]{1,128})["']?|(?:function|${prefix}invoke) name=["']([^"'<>]{1,128})["'])\\s{0,9}>`,
  "y",
);
const parameter = new RegExp(
  `\\s*<(?:parameter=["']?([^"'<>]{1,128})["']?|${prefix}param(?:eter)? name=["']([^"'<>]{1,128})["']([^<>]{0,64}))>`,
  "y",
);
/** A parameter may be left open: the next one, or the end of the call, shuts it. */
const parameterEnd = new RegExp(
  `</${prefix}param(?:eter)?>|(?=\\n<parameter=|</function>|</${prefix}invoke>|</tool_call>)`,
  "g",
);
const closer = new RegExp(`\\s*</(?:function|${prefix}invoke)>`, "y");
const beforeJson = /\s*(?=\{)/y;

const glmName = /([\w.:-]{1,128})(?:<tool_sep>)?\s*(?=<arg_key>|<\/tool_call>)/y;
const glmPair = /\s*<arg_key>([^<]{1,128})<\/arg_key>\s*<arg_value>/y;
const glmValueEnd = /<\/arg_value>|(?=<arg_key>|<\/tool_call>)/g;

/** What the end of the text broke off: a tag, or a key without its value. */
const brokenTag = /\s*<(?:[^<>]*$|arg_key>)/y;

/** The call whose opening tag stands at a place; undefined where there is none. */
export function elementCall(text: string, at: number): OwnCall | CutCall | undefined {
  const head = found(opener, text, at);
  if (head === null) return undefined;
  const name = head[1] ?? head[2] ?? "";
  const from = at + head[0].length;
  const json = found(beforeJson, text, from);
  if (json !== null) return jsonCall(name, text, from + json[0].length);
  const read = members(text, from, parameter, parameterEnd, ([, key, name = "", attributes = ""], value) => [
    key ?? name,
    unpadded(value, attributes),
  ]);
  if (read === undefined) return { name };
  const { args, end } = read;
  const over = found(closer, text, end);
  if (over !== null) return { name, args, end: end + over[0].length, closed: true };
  const some = Object.keys(args).length > 0;
  if (text.slice(end).trim() === "") return some ? { name, args, end, closed: false } : { name };
  if (found(brokenTag, text, end) !== null) return { name };
  // Without parameters, and with no end behind it, it is a word in prose.
  return some ? { name, args, end, closed: true } : undefined;
}

/** Llama writes JSON where the others write parameters. */
function jsonCall(name: string, text: string, from: number): OwnCall | CutCall {
  const end = valueEnd(text, from);
  if (end === -1) return { name };
  const over = found(closer, text, end);
  const args = text.slice(from, end);
  return {
    name,
    args: parsed(args) ?? args,
    end: end + (over?.[0].length ?? 0),
    closed: over !== null,
  };
}

/** `name<arg_key>…</arg_key><arg_value>…</arg_value>…` at a place: what stands in GLM's tag. */
export function pairedCall(text: string, at: number): OwnCall | CutCall | undefined {
  const head = found(glmName, text, at);
  if (head === null) return undefined;
  const [whole, name = ""] = head;
  const read = members(text, at + whole.length, glmPair, glmValueEnd, ([, key = ""], value) => [
    key.trim(),
    value,
  ]);
  if (read === undefined || found(brokenTag, text, read.end) !== null) return { name };
  return { name, ...read, closed: false };
}

/** Members one after another; undefined where the text ends within one. */
function members(
  text: string,
  from: number,
  head: RegExp,
  tail: RegExp,
  member: (head: RegExpExecArray, value: string) => [name: string, value: Json],
): { args: JsonObject; end: number } | undefined {
  const args: JsonObject = {};
  let end = from;
  for (let one = found(head, text, end); one !== null; one = found(head, text, end)) {
    const begins = end + one[0].length;
    const over = found(tail, text, begins);
    if (over === null) return undefined;
    const [name, value] = member(one, text.slice(begins, over.index));
    putMember(args, name, value);
    end = over.index + over[0].length;
  }
  return { args, end };
}

/** A tag on a line of its own has its line breaks beside the value. `string="false"` says that the value is JSON. */
function unpadded(written: string, attributes: string): Json {
  if (/string=["']false["']/.test(attributes)) return parsed(written) ?? written;
  const [, literal] = /^\s*<!\[CDATA\[([\s\S]*)\]\]>\s*$/.exec(written) ?? [];
  if (literal !== undefined) return literal;
  return written.startsWith("\n") ? written.slice(1).replace(/\n$/, "") : written;
}
