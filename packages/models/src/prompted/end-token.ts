// The room of a token that ends a turn, where a server leaves it at the end of an answer's text: it is no word of the answer (F236);
// and of what opens or closes calls, where it leaves that beside them: told to the model again, it would grow from turn to turn.
//
// Models write about such tokens too, so it is looked for at the very end alone, right behind a word or on a line of its own, and
// stays where somebody in the conversation wrote of it. What may be one is held back until more comes; the rest is told at once.

import {
  type AssistantMessage,
  type Model,
  type ModelEvent,
  type ModelIo,
  type ModelRequest,
  modelFace,
  type Part,
} from "@rondo/core";
import { literal } from "../patterns.ts";
import { introduces, isSpokenOf } from "./said-before.ts";

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

/** The model, whose answers do not end in a token of its template, and have no marks of calls beside calls. */
export function withoutEndToken(model: Model): Model {
  return {
    ...modelFace(model),
    async call(request, io): Promise<AssistantMessage> {
      const held = new HeldEnd(io, request);
      let answer: AssistantMessage;
      try {
        answer = await model.call(request, { ...io, emit: held.emit });
      } catch (thrown) {
        held.tell();
        throw thrown;
      }
      const hasCalls = answer.content.some(({ type }) => type === "tool_call");
      const ends = answer.content.map((part, at, { length }) =>
        hasCalls || at === length - 1 ? endIn(part, request, hasCalls) : undefined,
      );
      if (!ends.some((end) => end?.endsWith(held.text))) held.tell();
      if (ends.every((end) => end === undefined)) return answer;
      const content = answer.content.flatMap((part, at) => without(part, ends[at]));
      return { ...answer, content };
    },
  };
}

/** What of a part's end is no word of it. What is signed stays as it is. */
function endIn(part: Part, request: ModelRequest, hasCalls: boolean): string | undefined {
  if (part.type !== "text" || part.opaque?.thoughtSignature !== undefined) return undefined;
  return endOf(part.text, request, hasCalls);
}

function without(part: Part, end: string | undefined): Part[] {
  if (end === undefined || part.type !== "text") return [part];
  const text = part.text.slice(0, -end.length);
  return text.trim() === "" ? [] : [{ ...part, text }];
}

/** The tokens at a text's end, of which nobody spoke. */
function endOf(text: string, request: ModelRequest, hasCalls: boolean): string | undefined {
  const tail = text.slice(-longest);
  const found = (hasCalls ? marksAtEnd : tokensAtEnd).exec(tail);
  if (found === null || introduces.test(tail.slice(0, found.index))) return undefined;
  const [end] = found;
  const words = text.slice(0, -end.length);
  if (hasCalls && opened.test(words)) return undefined;
  const solid = end.slice(Math.max(0, end.search(/[<[]/)));
  const token = all.find((one) => solid.startsWith(one)) ?? "";
  const isClosing = token === "</s>" && words.includes(struck);
  return isClosing || isSpokenOf(token, request) ? undefined : end;
}

/** What none of them begins without. Most pieces of a text have none of it. */
const mayBegin = /[<[>]/;

/** Where what may be a token at the end of the answer begins; the text's length where nothing may be one. */
function mayEndAt(text: string): number {
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

/** Events as they come, but for the end of a text. */
class HeldEnd {
  readonly #io: ModelIo;
  readonly #request: ModelRequest;
  /** What was told of the text, in pieces. */
  #before: string[] = [];
  text = "";
  #index = 0;
  /** A call came, beside which what is held is no word. */
  #isMark = false;

  constructor(io: ModelIo, request: ModelRequest) {
    this.#io = io;
    this.#request = request;
  }

  /** Needs no `this`, and nothing around it: an answer may be thousands of deltas. */
  readonly emit = (event: ModelEvent): void => {
    if (event.type !== "text_delta") {
      if (event.type === "tool_args_delta") this.#besideCall();
      else if (event.type !== "progress" && event.type !== "warning") this.tell();
      this.#io.emit(event);
      return;
    }
    if (event.index !== this.#index) {
      this.tell();
      this.#before = [];
      this.text = "";
    }
    this.#index = event.index;
    if (this.text === "" && !mayBegin.test(event.text)) {
      this.#before.push(event.text);
      this.#io.emit(event);
      return;
    }
    this.#isMark = false;
    const text = this.text + event.text;
    const at = mayEndAt(text);
    const told = text.slice(0, at);
    this.text = text.slice(at);
    this.#before.push(told);
    // What is held back is work all the same.
    this.#io.emit(at === 0 ? { type: "progress" } : { ...event, text: told });
  };

  /** It was no end. */
  tell(): void {
    const text = this.text;
    if (this.#isMark || text === "") return;
    this.text = "";
    this.#before.push(text);
    this.#io.emit({ type: "text_delta", index: this.#index, text });
  }

  #besideCall(): void {
    if (this.text === "" || this.#isMark) return;
    const end = endOf(this.#before.join("") + this.text, this.#request, true);
    this.#isMark = end?.endsWith(this.text) === true;
    if (!this.#isMark) this.tell();
  }
}
