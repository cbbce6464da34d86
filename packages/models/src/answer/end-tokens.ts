// The room of tokens that end a turn, where a server leaves them at the end of an answer's text: they are no words of it (F236);
// and of what opens or closes calls, where it leaves that beside them: told to the model again, it would grow from turn to turn.
//
// Models write about such tokens too, so they are looked for at the very end alone, right behind a word or on a line of its own, and
// stay where somebody in the conversation wrote of them. What may be one is held back until more comes; the rest is told at once.

import type { Part } from "@rondo/core";
import { literal } from "../patterns.ts";
import { introduces } from "./said-before.ts";

/** Whether somebody other than the model wrote a mark in the conversation. */
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
  "<|role_end|>",
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
/** What opens and closes calls. A server that reads them may leave it beside them. */
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
  "<｜tool▁calls▁begin｜>",
  "<｜tool▁calls▁end｜>",
  "<｜tool▁call▁end｜>",
  "[TOOL_CALLS]",
  "</think>",
];
/** The same cut short. */
const cut: readonly string[] = [
  "<function",
  "<|tool_call",
  ...dsml.flatMap((prefix) => lists.map((name) => `<${prefix}${name}`)),
];
/** The longer ones first: some begin as others do. */
const all: readonly string[] = [...tokens, ...marks, ...cut].sort((one, other) => other.length - one.length);
/** So many may stand behind one. */
const mostBlanks = 4;
const someOf = (words: readonly string[]): string =>
  `(?:(?:${words.map(literal).join("|")})\\s{0,${mostBlanks}})`;
const tokensAtEnd = new RegExp(`${someOf(tokens)}{1,4}$`);
/** The end of a tag may be left before its list's. */
const marksAtEnd = new RegExp(`(?:>\\s{0,4}(?=</))?${someOf(all)}{1,6}$`);
const first = new RegExp(`^(?:>\\s{0,4})?${someOf([...tokens, ...marks])}{0,6}`);
const whole = new RegExp(`^${someOf(all)}$`);
/** HTML's, of what is struck out. */
const struck = "<s>";
/** A call that stands in the text as a whole is left as it is. */
const opened: RegExp = /<[^\s/<>]{0,24}(?:tool_call|function|invoke|parameter|think)/;
/** No run of them is longer. */
const longest = 120;

const beginning = /[<[>]/;
/** Whether a token may begin in a text. Most pieces of one have nothing of the kind. */
export const mayBegin = (text: string): boolean => beginning.test(text);

/**
 * The parts of an answer without what stands at its texts' ends and is no word of them. What is signed stays as it is.
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
    const end = endOf(part.text, isSpokenOf, hasCalls);
    if (end === undefined) return [part];
    ends.push(end);
    const text = part.text.slice(0, -end.length);
    return text.trim() === "" ? [] : [{ ...part, text }];
  });
  return { parts: kept, ends };
}

/** The tokens at a text's end, of which nobody spoke. @param hasCalls the answer has calls: marks of them are looked for as well */
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

/** Where what may be a token at the end of the answer begins; the text's length where nothing may be one. */
export function mayEndAt(text: string): number {
  const from = Math.max(0, text.length - longest);
  const last = Math.max(text.lastIndexOf("<"), text.lastIndexOf("["));
  if (last < from || !mayBe(text.slice(last))) {
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

const starts: ReadonlySet<string> = new Set(all.map((token) => token.slice(0, 2)));
/** Whether a text may become a token, or is one. */
const mayBe = (text: string): boolean =>
  text.length < 2 ||
  (starts.has(text.slice(0, 2)) && (all.some((token) => token.startsWith(text)) || whole.test(text)));
