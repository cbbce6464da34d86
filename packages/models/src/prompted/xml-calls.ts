// The room of calls written as XML elements: `<function=name><parameter=key>…`, `<invoke name="…"><parameter name="…">…`, a
// name followed by `<arg_key>` and `<arg_value>`, and Kimi's, with tokens as brackets.
//
// Qwen, GLM, MiniMax, MiniCPM, DeepSeek, Seed and others write them, some with a prefix of their own; MiniMax M3 has a
// token before each tag, and elements named like the parameters. Values are text; they are converted to the schema's types
// where all arguments are. Forward only; nested elements of MiniMax's are scanned once each, to a limited depth.

import type { Json, JsonObject } from "@rondo/core";
import { setOwn } from "@rondo/core/checks";
import type { CutCall, OwnCall } from "./calls.ts";
import { found, parsedLoosely, valueEnd } from "./scan.ts";

/** DeepSeek's prefix. Its bars come in several kinds, one or two of them, and with blanks where it writes the tokens itself. */
export const dsml = "\\s?[|｜‖]{1,2}\\s?DSML\\s?[|｜‖]{1,2}\\s?";
const prefix = `(?:[a-z]{1,24}:|${dsml})?`;
/** What Hunyuan writes at the end of a tag. */
export const label = "(?::opensource)?";
const element = `(?:function|${prefix}(?:invoke|(?:function|tool)_call))`;
const opener = new RegExp(
  `<(?:function=["']?([\\w.:-]{1,128})["']?|${element} name=["']([^"'<>]{1,128})["'])\\s{0,9}>`,
  "y",
);
const parameter = new RegExp(
  `\\s*<(?:parameter=["']?([^"'<>]{1,128})["']?|${prefix}param(?:eter)? name=["']([^"'<>]{1,128})["']([^<>]{0,64}))>`,
  "y",
);
/** A parameter may be left open: the next one, or the end of the call, closes it. */
const parameterEnd = new RegExp(`</${prefix}param(?:eter)?>|(?=\\n<parameter=|</${element}>)`, "g");
/** What MiniMax M3 writes before a tag. */
const mark = "\\]<\\]minimax\\[>\\[";
const closer = new RegExp(`\\s*(?:${mark})?</${element}>`, "y");
const marked = new RegExp(`\\s*${mark}<([A-Za-z_][\\w.-]{0,127})>`, "y");
const lastMark = new RegExp(`${mark}$`);
const deepest = 8;
const beforeJson = /\s*(?=\{)/y;

const glmNext = `(?=<arg_key${label}>|</tool_call${label}>)`;
const glmName = new RegExp(`([\\w.:-]{1,128})(?:<tool_sep${label}>)?\\s*${glmNext}`, "y");
const glmPair = new RegExp(
  `\\s*<arg_key${label}>([^<]{1,128})</arg_key${label}>\\s*<arg_value${label}>`,
  "y",
);
const glmValueEnd = new RegExp(`</arg_value${label}>|${glmNext}`, "g");

const kimiOpener = /<\|open\|>call tool="([^"<>]{1,128})"[^<>]{0,64}<\|sep\|>/y;
const kimiArgument = /\s*<\|open\|>argument key="([^"<>]{1,128})"([^<>]{0,64})<\|sep\|>/y;
const kimiArgumentEnd = /<\|close\|>argument<\|sep\|>/g;
const kimiCloser = /\s*<\|close\|>call<\|sep\|>/y;

/** What is left at the end of a truncated text: part of a tag, or a key without its value. */
const brokenTag = new RegExp(
  `\\s*(?:(?:${mark})?<(?:[^<>]*$|arg_key${label}>)|<\\|(?:open|close)\\|>[^<>]*(?:<[^<>]*)?$|\\](?:<(?:\\](?:\\w{1,7}(?:\\[(?:>\\[?)?)?)?)?)?$)`,
  "y",
);

/** The call whose opening tag is at an offset; undefined if there is none. */
export function xmlCall(text: string, at: number): OwnCall | CutCall | undefined {
  const kimi = found(kimiOpener, text, at);
  if (kimi !== null) {
    const [whole, name = ""] = kimi;
    const read = members(text, at + whole.length, kimiArgument, kimiArgumentEnd, typedMember);
    return withEnd(unescaped(name), read, text, kimiCloser);
  }
  const head = found(opener, text, at);
  if (head === null) return undefined;
  const name = head[1] ?? head[2] ?? "";
  const from = at + head[0].length;
  const json = found(beforeJson, text, from);
  if (json !== null) return jsonCall(name, text, from + json[0].length);
  const read =
    found(marked, text, from) === null
      ? members(text, from, parameter, parameterEnd, ([, key, name = "", attributes = ""], value) => [
          key ?? name,
          unpadded(value, attributes),
        ])
      : markedMembers(text, from);
  return withEnd(name, read, text, closer);
}

/** A call whose members were read: with its end, or as a truncated one. */
function withEnd(
  name: string,
  read: { args: JsonObject; end: number } | undefined,
  text: string,
  closer: RegExp,
): OwnCall | CutCall | undefined {
  if (read === undefined) return { name };
  const { args, end } = read;
  const over = found(closer, text, end);
  if (over !== null) return { name, args, end: end + over[0].length, closed: true };
  const some = Object.keys(args).length > 0;
  if (text.slice(end).trim() === "") return some ? { name, args, end, closed: false } : { name };
  if (found(brokenTag, text, end) !== null) return { name };
  // Without parameters or an end, the tag is a word in prose.
  return some ? { name, args, end, closed: true } : undefined;
}

/** MiniMax's members, one after another; undefined if the text ends inside one. */
function markedMembers(
  text: string,
  from: number,
  depth: number = 0,
): { args: JsonObject; end: number } | undefined {
  const args: JsonObject = {};
  let end = from;
  for (let one = found(marked, text, end); one !== null; one = found(marked, text, end)) {
    const [whole, name = ""] = one;
    const tail = `</${name}>`;
    const over = text.indexOf(tail, end + whole.length);
    if (over === -1) return undefined;
    const value = text.slice(end + whole.length, over).replace(lastMark, "");
    const inner =
      depth < deepest && found(marked, value, 0) !== null ? markedMembers(value, 0, depth + 1) : undefined;
    const isObject = inner !== undefined && value.slice(inner.end).trim() === "";
    setOwn(args, name, isObject ? inner.args : unpadded(value, ""));
    end = over + tail.length;
  }
  return { args, end };
}

/** A value of Kimi's states its type: strings are written as they are, anything else as JSON. */
function typedMember([, key = "", attributes = ""]: RegExpExecArray, value: string): [string, Json] {
  return [unescaped(key), /type="(?!string")/.test(attributes) ? (parsedLoosely(value) ?? value) : value];
}

/** The text of an attribute, with its escapes undone. */
const unescaped = (attribute: string): string => attribute.replaceAll("&quot;", '"').replaceAll("&amp;", "&");

/** Llama writes JSON where the others write parameters. */
function jsonCall(name: string, text: string, from: number): OwnCall | CutCall {
  const end = valueEnd(text, from);
  if (end === -1) return { name };
  const over = found(closer, text, end);
  const args = text.slice(from, end);
  return {
    name,
    args: parsedLoosely(args) ?? args,
    end: end + (over?.[0].length ?? 0),
    closed: over !== null,
  };
}

/** `name<arg_key>…</arg_key><arg_value>…</arg_value>…` at an offset: the content of GLM's tag. */
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

/** Members, one after another; undefined if the text ends inside one. */
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
    setOwn(args, name, value);
    end = over.index + over[0].length;
  }
  return { args, end };
}

/** If the tags are on lines of their own, the line breaks are not part of the value. `string="false"` says that the value is JSON. */
function unpadded(written: string, attributes: string): Json {
  if (/string=["']false["']/.test(attributes)) return parsedLoosely(written) ?? written;
  const [, literal] = /^\s*<!\[CDATA\[([\s\S]*)\]\]>\s*$/.exec(written) ?? [];
  if (literal !== undefined) return literal;
  return written.startsWith("\n") ? written.slice(1).replace(/\n$/, "") : written;
}
