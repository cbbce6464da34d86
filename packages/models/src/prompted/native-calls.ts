// The room of native calls: calls in the notation that a model family was trained on, written in spite of the protocol.
//
// A server that has no tools for a model passes its text on, and a model falls back to its training. This room finds such a
// call's name, arguments and end. Whether it may run is decided in `read-answer.ts`.

import { anyOf } from "../patterns.ts";
import { type CutCall, type OwnCall, plainName } from "./calls.ts";
import { gemmaCall, pythonCall } from "./loose-notation.ts";
import { found, parsedLoosely, valueEnd } from "./scan.ts";
import { dsml, label, pairedCall, xmlCall } from "./xml-calls.ts";

/** A word of DeepSeek's tokens, whose distilled models write what is between the words in several ways. */
const between = "(?:[▁_ ]|\\\\_)";
const deepseek = (...words: readonly string[]): string => `<[|｜]${words.join(between)}[|｜]>`;

/** What begins a call: in prose nothing else needs to be looked at. */
export const opening: RegExp = anyOf(
  "",
  new RegExp(`(?:\\]<\\]minimax\\[>\\[)?<(?:[a-z]{1,24}[:_])?(?:tool|function)_?call(?:s?${label}>| name=)`),
  /<\|open\|>(?:tools|call tool=)/,
  /<TOOLCALL>/,
  // DeepSeek's prefix is in no other tag, whatever comes after it.
  new RegExp(`<${dsml}(?=[A-Za-z_])`),
  /<tool_use>/,
  /<\|function[_ ]call\|>/,
  /(?:<\|message_sep\|>\s{0,9})?\bfunction call<\|role_sep\|>/,
  /<\|(?:start\|>assistant|channel\|>commentary) to=functions\./,
  /```tool_code\b/,
  /<function(?:=| name=|[(/](?=[\w.-]{1,128}[)>]))/,
  /<(?:[a-z]{1,24}:)?invoke name=/,
  // MiniMax, without its brackets.
  /(?<![<\w:])invoke name=["'](?=[\w.:-]{1,128}["']>)/,
  /<start_function_call>/,
  /<\|(?:tool_calls?|python_tag|python_start|tool_call_start|tool_calls_section_begin|tool_call[_:]begin|action_start|plugin|START_ACTION|tools_prefix)\|>/,
  /<\|tool_call>/,
  new RegExp(deepseek("tool", "calls?", "begin")),
  // Kimi's, where a server has no names for its tokens.
  /<\|reserved_token_16359[57]\|>/,
  /(?:<\|message_model\|>\s{0,9}[\w.-]{0,128})?<\|content_invoke_tool_json\|>/,
  // Kimi, without what begins a call.
  /(?<![\w.:-])[\w.-]{1,128}:\d{1,9}\s{0,9}<\|tool_call_argument_begin\|>/,
  // Kimi, without any of its tokens.
  /(?<![\w.:-])functions\.[\w.-]{1,128}:\d{1,9}\s{0,9}(?=\{)/,
  /\[(?:TOOL_CALLS?|TOOL_REQUEST)\]/,
  // Mistral, without what begins a call.
  /(?<![\w.:-])[\w.-]{1,128}(?:\[CALL_ID\][\w-]{1,64})?\[ARGS\]\s{0,9}(?=\{)/,
  // Qwen-Agent's.
  /✿FUNCTION✿\s{0,9}:\s{0,9}(?=[\w.-])/,
  // Functionary's.
  />>>(?=[\w.-]{1,128}\n\{)/,
  // What servers without calls of their own make of those in a history, and models learn from them.
  /\[Calling tools?: ?(?=[\w.-]{1,128}\(\{)/,
  /\b(?:functools(?=\[)|function call(?=\{))/,
  // Gemini's own, without the tokens around it.
  /\b(?:call|declaration):default_api:(?=\w)/,
);

/** A token that opens calls and breaks off with the text: the answer ended where a call began. */
const cutMark: RegExp = new RegExp(
  `<(?:\\|tool_calls?\\w{0,16}\\|?|[|｜]tool${between}[\\w▁]{0,16}[|｜]?|${dsml}\\w{0,16}|tool_calls?|function=[\\w.-]{0,64})$`,
);

/** What begins a call where a server was to take it out of the text: also what is left of a call without its tokens. */
export const leftOpening: RegExp = anyOf(
  "",
  opening,
  /\bcall:(?=[\w.-]{1,128}\{)/,
  /<tools>(?=\s{0,9}[{[])/,
  /<parameter=(?=["']?[\w.:-]{1,128}["']?>)/,
  // GLM, without what begins a call.
  /(?<![\w.:-])[\w.:-]{1,128}\s{0,9}(?=<arg_key>[\w.-]{1,128}<\/arg_key>)/,
  /(?:\bassistant(?:\s{0,9}(?:analysis|commentary))?\s{1,9}|\b(?:analysis|commentary)\s{1,9})?\bto=(?:functions|multi_tool_use)\.(?=\w)/,
  // The body of its wrapper for several calls, or one of those, without the wrapper's address.
  /\{\s{0,9}(?:"tool_uses"\s{0,9}:\s{0,9}\[\s{0,9}\{\s{0,9})?"recipient_name"\s{0,9}:\s{0,9}"(?=(?:functions|multi_tool_use)\.|mcp__)/,
  cutMark,
  // What a server makes a model without calls of its own write, as llama.cpp does: calls under their own key, with nothing before it.
  /^\{\s{0,9}"tool_calls?"\s{0,9}:\s{0,9}(?:\[\s{0,9})?\{/,
  // Llama's, which has no tokens: only JSON that calls itself a function, with nothing before it.
  /^\[?\s{0,9}\{\s{0,9}"type"\s{0,9}:\s{0,9}"function"\s{0,9},\s{0,9}"(?:name|function)"\s{0,9}:/,
);

/** OpenAI's address of a call, without the tokens around it. Nothing else is written so: what follows need not be readable. */
export const isAddress = (mark: string): boolean => /\bto=|"recipient_name"/.test(mark);

/** Numbers in place of a token's name: what stands so before a call was generated, and not quoted. */
export const isNumbered = (mark: string): boolean => mark.startsWith("<|reserved_");

/**
 * Whether a text begins with a parameter of a call whose beginning, and with it the tool's name, is missing. Qwen's tag may
 * be spoken of: there the end of a call must end the text, too.
 */
export const opensParameter = (text: string): boolean =>
  parameterFirst.test(text) || (text.startsWith("<parameter=") && callLast.test(text.slice(-longestEnd)));
const parameterFirst = new RegExp(`^<${dsml}param`);
const callLast = /<\/(?:parameter|function|tool_call)>\s*$/;

/** Whether a text is GLM's call without what begins it. Its tags may be spoken of: the end of a call must end the text, too. */
export const isUnopened = (text: string): boolean =>
  unopened.test(text) && /<\/(?:arg_value|tool_call)>\s*$/.test(text.slice(-longestEnd));
const unopened = /^[\w.:-]{1,128}\s{0,9}<arg_key>/;
const longestEnd = 32;

/** Whether a text begins with calls as LFM's are documented: what the model says while they run follows without a space. */
export const saysBehind = (text: string): boolean => lfmSays.test(text);
const lfmSays = /^<\|tool_call_start\|>[\s\S]*<\|tool_call_end\|>\p{L}/u;

/** Whether a text goes on behind its calls with a result that only a tool can give: such a text is no example. */
export const inventsResult = (text: string): boolean => resultBehind.test(text);
const resultBehind =
  /(?:<\/(?:[a-z]{1,24}[:_])?(?:(?:tool|function)_calls?|invoke)>|<\|tool_calls?(?:_section)?_end\|>|<tool_call\|>)\s{0,9}(?:<(?:tool_response|tool_result|function_results?)s?>|<\|tool_response>)/;

/** Whether a text begins with the beginning of a call. */
export const opensCalls = (text: string): boolean => opening.exec(text.slice(0, 64))?.index === 0;

/** Within so many characters, an unreadable call must name its tool. */
const farthestName = 400;

/** The first tool that a text names. */
export function firstNamed(text: string, known: ReadonlySet<string>): string | undefined {
  for (const [word] of text.slice(0, farthestName).matchAll(/[\w.-]{1,128}/g)) {
    const name = plainName(word, known);
    if (known.has(name)) return name;
  }
  return undefined;
}

/** Text around and between calls that has no meaning by itself. */
export const around: RegExp = anyOf(
  "y",
  /\s+/,
  /[,;]/,
  /```[A-Za-z_]*/,
  /\]<\]minimax\[>\[/,
  /<\|(?:open|close)\|>tools<\|sep\|>/,
  new RegExp(`</?(?:[a-z]{1,24}[:_])?(?:tool_?calls?|function_?calls?|tools)${label}>`),
  /<\/?TOOLCALL>/,
  new RegExp(`</?${dsml}(?:(?:(?:tool|function)_)?calls|tool_use|toolcalls?)>`),
  /<\|\/?(?:python_tag|python_start|python_end|tool_calls?|constrain|message|tool_call_start|tool_call_end|tool_calls_section_begin|tool_calls_section_end|action_start|plugin|action_end|START_ACTION|END_ACTION|tools_prefix|tools_suffix|calls)\|>/,
  /<\|tool_call>/,
  /<tool_call\|>/,
  /<\|reserved_token_16359[56]\|>/,
  // Inkling writes the name twice: before the token, and in the JSON behind it.
  /(?:<\|message_model\|>\s{0,9}[\w.-]{0,128})?<\|content_invoke_tool_json\|>/,
  /(?:<\|message_sep\|>\s{0,9})?\bfunction call<\|role_sep\|>/,
  /<\|function[_ ]call\|>/,
  /<\|(?:end_message|content_model_end_sampling)\|>/,
  /<(?:start|end)_function_call>/,
  new RegExp(deepseek("tool", "calls", "(?:begin|end)")),
  new RegExp(deepseek("tool", "call", "end")),
  new RegExp(`${deepseek("tool", "call", "begin")}function${deepseek("tool", "sep")}(?=<)`),
  /\[TOOL_CALLS\](?!\s{0,9}[A-Za-z_])/,
  /\[(?:(?:END_)?TOOL_REQUEST|\/?TOOL_CALL)\]/,
  /functools(?=\[)/,
  /function call(?=\{)/,
);

const openingHere = new RegExp(opening.source, "y");

/** Whether a text only begins calls, and has none. */
export function opensOnly(text: string): boolean {
  const cut = cutMark.exec(text)?.index ?? text.length;
  let at = 0;
  while (at < cut) {
    const mark = found(around, text, at)?.[0] ?? found(openingHere, text, at)?.[0] ?? "";
    if (mark === "") return false;
    at += mark.length;
  }
  return true;
}

/** Those of them that close. */
export const closing: RegExp =
  /^(?:<\/|\[\/|<\|\/|<\|close|.*(?:end|END|suffix)|<tool_call\|>|<\|reserved_token_163596)/;

/** A name and JSON, surrounded by tokens. */
const tokenForms: readonly { head: RegExp; tail: RegExp }[] = [
  {
    head: /<\|(?:tool_call_begin|reserved_token_163597)\|>\s*(?:functions\.)?([\w.-]{1,128})(?::\d{1,9})?\s*<\|(?:tool_call_argument_begin|reserved_token_163598)\|>\s*(?=\{)/y,
    tail: /\s*<\|(?:tool_call_end|reserved_token_163599)\|>/y,
  },
  {
    head: /<\|tool_call:begin\|>[\w-]{0,64}<\|tool_call:name\|>([\w.-]{1,128})<\|tool_call:args\|>\s*(?=\{)/y,
    tail: /\s*<\|tool_call:end\|>/y,
  },
  {
    head: new RegExp(
      `${deepseek("tool", "call", "begin")}(?:function${deepseek("tool", "sep")})?([\\w.:-]{1,128})(?:${deepseek("tool", "sep")})?\\s*(?:\`\`\`(?:json)?\\s*)?(?=\\{)`,
      "y",
    ),
    tail: new RegExp(`\\s*(?:\`\`\`\\s*)?${deepseek("tool", "call", "end")}`, "y"),
  },
  {
    head: /\[TOOL_CALLS\]\s{0,9}([A-Za-z_][\w.-]{0,127})(?:\[CALL_ID\][\w-]{1,64})?(?:\[ARGS\])?\s*(?=\{)/y,
    tail: /(?!)/y,
  },
  {
    head: /([A-Za-z_][\w.-]{0,127})(?:\[CALL_ID\][\w-]{1,64})?\[ARGS\]\s*(?=\{)/y,
    tail: /(?!)/y,
  },
  {
    head: /functions\.([\w.-]{1,128}):\d{1,9}\s*(?=\{)/y,
    tail: /(?!)/y,
  },
  {
    head: /✿FUNCTION✿\s{0,9}:\s{0,9}([\w.-]{1,128})\s{1,9}✿ARGS✿\s{0,9}:\s{0,9}(?=\{)/y,
    tail: /(?:\s*✿(?:RESULT|RETURN)✿\s*:?)?/y,
  },
  {
    head: />>>([\w.-]{1,128})\n(?=\{)/y,
    tail: /(?!)/y,
  },
  {
    head: /\[Calling tools?: ?([\w.-]{1,128})\((?=\{)/y,
    tail: /\)\]?/y,
  },
];

/**
 * The call in a family's own notation at an offset; undefined if there is none.
 * @param inside the beginning of a call comes before it
 */
export function ownCall(text: string, at: number, inside: boolean): OwnCall | CutCall | undefined {
  const told = xmlCall(text, at) ?? tokenCall(text, at);
  if (told !== undefined || !inside) return told;
  return gemmaCall(text, at) ?? pairedCall(text, at) ?? printedCall(text, at) ?? pythonCall(text, at);
}

/** Gemma prints the result of its call. */
function printedCall(text: string, at: number): OwnCall | CutCall | undefined {
  const print = found(/print\(\s*/y, text, at)?.[0];
  if (print === undefined) return undefined;
  const call = pythonCall(text, at + print.length);
  if (call?.args === undefined) return call;
  const over = found(/\s*\)/y, text, call.end)?.[0];
  return over === undefined ? undefined : { ...call, end: call.end + over.length };
}

function tokenCall(text: string, at: number): OwnCall | CutCall | undefined {
  for (const { head, tail } of tokenForms) {
    const begun = found(head, text, at);
    if (begun === null) continue;
    const name = begun[1] ?? "";
    const from = at + begun[0].length;
    const end = valueEnd(text, from);
    if (end === -1) return { name };
    const over = found(tail, text, end);
    const args = text.slice(from, end);
    // What is not JSON stays text, and is judged where all arguments are.
    return { name, args: parsedLoosely(args) ?? args, end: end + (over?.[0].length ?? 0), closed: true };
  }
  return undefined;
}

/** Calls without tokens: a Python list, or Gemma's without its tokens; undefined if there are none. */
export function bareCalls(text: string, at: number): { calls: OwnCall[]; end: number } | CutCall | undefined {
  if (text.charAt(at) === "[") return pythonCalls(text, at);
  const call = gemmaCall(text, at);
  return call?.args === undefined ? call : { calls: [call], end: call.end };
}

function pythonCalls(text: string, at: number): { calls: OwnCall[]; end: number } | CutCall | undefined {
  const calls: OwnCall[] = [];
  for (let here = at + 1; ; ) {
    const from = here + (found(/\s*/y, text, here)?.[0].length ?? 0);
    const call = pythonCall(text, from);
    if (call === undefined) return undefined;
    if (call.args === undefined) return call;
    calls.push(call);
    const next = call.end + (found(/\s*/y, text, call.end)?.[0].length ?? 0);
    if (next >= text.length) return { name: call.name };
    if (text.charAt(next) === "]") return { calls, end: next + 1 };
    if (text.charAt(next) !== ",") return undefined;
    here = next + 1;
  }
}
