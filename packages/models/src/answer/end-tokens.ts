// The room of control tokens that a server leaves at the end of an answer's text: tokens that end a turn (F236), and those
// that open or close calls. Left in the history they would multiply from turn to turn.
//
// Models also write about such tokens. So only the very end is searched, where a token directly follows a word or is on a
// line of its own, and a token stays if anybody else mentioned it in the conversation. A possible token is held back until
// more arrives; the rest is emitted at once.

import type { Part } from "@rondo/core";
import { literal } from "../patterns.ts";
import { introduces } from "./said-before.ts";

/** Whether anybody other than the model wrote a token in the conversation. */
export type IsSpokenOf = (mark: string) => boolean;

const tokens: readonly string[] = [
  "<|im_end|>",
  "<|endoftext|>",
  "<|eot_id|>",
  "<|eom_id|>",
  "<|eot|>",
  "<|end|>",
  "<|return|>",
  "<|end_of_text|>",
  "<|end_of_turn|>",
  "<|END_OF_TURN_TOKEN|>",
  "<|END_RESPONSE|>",
  "<|role_end|>",
  "<|end_message|>",
  "<|content_model_end_sampling|>",
  "<|close|>message<|sep|>",
  "<|close|>response<|sep|>",
  "<|user|>",
  "<|observation|>",
  "<｜end▁of▁sentence｜>",
  "<end_of_turn>",
  "<end_of_utterance>",
  "<turn|>",
  "<eos>",
  "<seed:eos>",
  "<SPECIAL_12>",
  "</s>",
  "[|endofturn|]",
  "[e~[",
];
const dsml: readonly string[] = ["|", "｜", "‖"].flatMap((bar) => [
  `${bar}DSML${bar}`,
  `${bar}${bar}DSML${bar}${bar}`,
]);
const lists: readonly string[] = ["tool_call", "tool_calls", "function_calls"];
/** Tokens that open and close calls. A server that parses calls may leave them beside the call. */
const marks: readonly string[] = [
  ...["", "minimax:", "seed:", ...dsml].flatMap((prefix) =>
    lists.flatMap((name) => [`<${prefix}${name}>`, `</${prefix}${name}>`]),
  ),
  "</function>",
  "</parameter>",
  "</invoke>",
  "<|tool_call>",
  "<tool_call|>",
  "<|tool_call|>",
  "<|tool_calls|>",
  "<|call|>",
  "<|calls|>",
  "<|python_tag|>",
  "<|tool_calls_section_begin|>",
  "<|tool_calls_section_end|>",
  "<|tool_call_begin|>",
  "<|tool_call_end|>",
  "<|tool_call_start|>",
  "<|function_call|>",
  "<|function call|>",
  "<|message_sep|>\n\nfunction call<|role_sep|>",
  "<|message_model|>",
  "<|content_invoke_tool_json|>",
  "<｜tool▁calls▁begin｜>",
  "<｜tool▁calls▁end｜>",
  "<｜tool▁call▁end｜>",
  "[TOOL_CALLS]",
  "</think>",
];
/** The same tokens, cut short. */
const cut: readonly string[] = [
  "<function",
  "<|tool_call",
  ...dsml.flatMap((prefix) => lists.map((name) => `<${prefix}${name}`)),
];
/** The tokens that end a turn, as a pattern. */
export const turnEnds: string = tokens.map(literal).join("|");
/** Longest first, because some are prefixes of others. */
const all: readonly string[] = [...tokens, ...marks, ...cut].sort((one, other) => other.length - one.length);
/** The most white space that may follow a token. */
const mostBlanks = 4;
const someOf = (words: readonly string[]): string =>
  `(?:(?:${words.map(literal).join("|")})\\s{0,${mostBlanks}})`;
const tokensAtEnd = new RegExp(`${someOf(tokens)}{1,4}$`);
/** The end of the call's own tag may be left before that of the list. */
const marksAtEnd = new RegExp(`(?:>\\s{0,4}(?=</))?${someOf(all)}{1,6}$`);
const first = new RegExp(`^(?:>\\s{0,4})?${someOf([...tokens, ...marks])}{0,6}`);
const whole = new RegExp(`^${someOf(all)}$`);
/** HTML's strikethrough: `</s>` may close it. */
const struck = "<s>";
/** A text with a whole call in it is left as it is. */
const opened: RegExp = /<[^\s/<>]{0,24}(?:tool_call|function|invoke|parameter|think)/;
/** The longest run of tokens, in characters. */
const longest = 120;

const beginning = /[<[>]/;
/** Whether a token may begin in a text. A cheap test: most deltas have none of these characters. */
export const mayBegin = (text: string): boolean => beginning.test(text);

/**
 * The answer's parts without the tokens at the ends of its texts. A signed text stays as it is.
 * @returns `ends`: what was taken away
 */
export function withoutEndTokens(
  parts: readonly Part[],
  isSpokenOf: IsSpokenOf,
): { parts: Part[]; ends: string[] } {
  const hasCalls = parts.some(({ type }) => type === "tool_call");
  const ends: string[] = [];
  const kept = parts.flatMap((part, at): Part[] => {
    if (part.type !== "text" || part.opaque?.thoughtSignature !== undefined) return [part];
    if (!hasCalls && at < parts.length - 1) return [part];
    const text = withoutEnds(part.text, isSpokenOf, hasCalls);
    if (text === part.text) return [part];
    ends.push(part.text.slice(text.length));
    return text.trim() === "" ? [] : [{ ...part, text }];
  });
  return { parts: kept, ends };
}

/** How many runs of tokens are taken from one text: broken servers repeat one until the limit. */
const mostRuns = 64;

function withoutEnds(whole: string, isSpokenOf: IsSpokenOf, hasCalls: boolean): string {
  const [, token] = onlyToken.exec(whole.slice(0, longest)) ?? [];
  if (token !== undefined && !isSpokenOf(token) && whole.replaceAll(token, "").trim() === "") return "";
  let text = whole;
  for (let run = 0; run < mostRuns; run++) {
    const end = endOf(text, isSpokenOf, hasCalls);
    if (end === undefined) break;
    text = text.slice(0, -end.length);
  }
  return text;
}

/** A text that begins with one token three times: if it is nothing else, no model meant it (`<pad>`, `<unk>`, `<unused32>`). */
const onlyToken = /^\s*(<[|｜]?[A-Za-z][\w▁:-]{0,24}[|｜]?>)(?:\s*\1){2}/;

/**
 * The tokens at a text's end, unless mentioned in the conversation. @param hasCalls the answer has calls: also look for
 * their tokens
 */
export function endOf(text: string, isSpokenOf: IsSpokenOf, hasCalls: boolean): string | undefined {
  const tail = text.slice(-longest);
  if (!mayBegin(tail)) return undefined;
  const found = (hasCalls ? marksAtEnd : tokensAtEnd).exec(tail);
  if (found === null || introduces.test(tail.slice(0, found.index))) return undefined;
  const [end] = found;
  const words = text.slice(0, -end.length);
  if (hasCalls && opened.test(words)) return undefined;
  const solid = end.slice(Math.max(0, end.search(/[<[]/)));
  const token = all.find((one) => solid.startsWith(one)) ?? "";
  const isClosing = token === "</s>" && words.includes(struck);
  return isClosing || isSpokenOf(token) ? undefined : end;
}

/** The offset from which the text may be a token at the answer's end; the text's length if nothing may be one. */
export function mayEndAt(text: string): number {
  const from = Math.max(0, text.length - longest);
  const last = lastBegin(text, from);
  if (last === undefined) {
    const { length } = text.trimEnd();
    return text.endsWith(">", length) && text.length - length <= mostBlanks ? length - 1 : text.length;
  }
  for (let at = from; at < last; at++)
    if ("<[>".includes(text.charAt(at))) {
      const rest = text.slice(at).replace(first, "");
      if (rest === "" || mayBe(rest)) return at;
    }
  return last;
}

/** Where the last token begins that the text's end may be. Kimi's have a bracket of their own inside. */
function lastBegin(text: string, from: number): number | undefined {
  const last = Math.max(text.lastIndexOf("<"), text.lastIndexOf("["));
  if (last < from) return undefined;
  if (mayBe(text.slice(last))) return last;
  const before = last > from ? text.lastIndexOf("<", last - 1) : -1;
  return before >= from && mayBe(text.slice(before)) ? before : undefined;
}

const starts: ReadonlySet<string> = new Set(all.map((token) => token.slice(0, 2)));
/** Whether a text is a token, or may become one. */
const mayBe = (text: string): boolean =>
  text.length < 2 ||
  (starts.has(text.slice(0, 2)) && (all.some((token) => token.startsWith(text)) || whole.test(text)));
