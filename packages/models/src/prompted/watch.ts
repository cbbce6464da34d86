// The room of showing an answer while it arrives, before its form is known.
//
// Only what can no longer become part of a call is shown: prose up to a line that may begin one, and the text of a
// `response` as it is written. The rest waits for the end, when the whole is parsed. White space at the end waits too,
// because it is not part of a finished answer. Each character is looked at once, and those that begin nothing are taken
// together.

import { literal } from "../patterns.ts";
import { thinkingTags } from "../thinking-tags.ts";
import { ResponseWatch } from "./response-watch.ts";
import { found } from "./scan.ts";

/** Beginnings after which nothing more is shown: calls, leaked control tokens, reasoning that is closed late. */
const stops: readonly string[] = [
  "<tool",
  "</tool",
  "<function_call",
  "</function_call",
  "<function=",
  "<function name=",
  "<invoke name=",
  "<TOOLCALL>",
  "<start_function_call>",
  "]<]minimax[>[",
  "<|",
  "<｜",
  "<‖",
  "[TOOL_CALL]",
  "[TOOL_CALLS]",
  "[TOOL_REQUEST]",
  "functools[",
  "function call{",
  ...thinkingTags.map(([, close]) => close),
  "</thinking>",
  "</thought>",
  "</reasoning>",
  "<start_of_turn>",
  "<end_of_turn>",
  "<turn|>",
  "<s>",
  "</s>",
];
/** The same, with a family's own prefix. */
const prefixed: readonly string[] = ["tool_call", "function_call", "invoke name="];
/** It does not stop the display by itself: its content is shown. */
const fence = "```";
/** At the start of a line: ReAct's words, and Gemma's call without its tokens. */
const lines: readonly string[] = ["Action:", "call:", fence];
/** Characters that begin none of them and are not white space. */
const plain = /[^\s<[\]f◁]+/y;

type Mode = "lead" | "prose" | "envelope" | "held";

export class AnswerWatch {
  #mode: Mode = "lead";
  readonly #envelope = new ResponseWatch();
  /** White space that is shown once something follows it. */
  #blank = "";
  /** The end of the text so far, if it may begin a stop. */
  #mark = "";
  #lineStart = true;
  #inFence = false;

  /** Takes a piece of the answer; returns what may be shown of it. */
  push(piece: string): string {
    const text = this.#mark + piece;
    this.#mark = "";
    let at = 0;
    if (this.#mode === "lead") {
      while (at < text.length && isBlank(text.charAt(at))) at += 1;
      if (at === text.length) return "";
      const first = text.charAt(at);
      if (first === "{") this.#mode = "envelope";
      else if (first === "[" || first === "`") this.#mode = "held";
      else this.#mode = "prose";
    }
    if (this.#mode === "envelope") return this.#envelope.push(at === 0 ? text : text.slice(at));
    let show = "";
    while (at < text.length && this.#mode === "prose") {
      const run = this.#lineStart ? undefined : found(plain, text, at)?.[0];
      const taken = run ?? text.charAt(at);
      if (run === undefined && isBlank(taken)) {
        this.#blank += taken;
        if (taken === "\n") this.#lineStart = true;
        at += 1;
        continue;
      }
      const stop = run === undefined ? this.#stopAt(text, at) : undefined;
      if (stop === undefined) {
        show += this.#out(taken);
        at += taken.length;
      } else if (stop === fence) {
        this.#inFence = !this.#inFence;
        show += this.#out(fence);
        at += fence.length;
      } else if (stop === "open") {
        this.#mark = text.slice(at);
        break;
      } else this.#mode = "held";
    }
    return show;
  }

  /** The text of `response` so far, if the answer is an envelope. */
  get response(): string | undefined {
    return this.#envelope.begun;
  }

  /** The stop at an offset, or `open` if what follows decides whether it is one. */
  #stopAt(text: string, at: number): string | undefined {
    const char = text.charAt(at);
    if (this.#lineStart && char === "{" && !this.#inFence) return char;
    const mayStop =
      "<[]f◁".includes(char) ||
      (this.#lineStart && (char === "`" || ("Ac".includes(char) && !this.#inFence)));
    if (!mayStop) return undefined;
    const whole = found(wholeStop, text, at)?.[0];
    if (whole !== undefined) return whole;
    return text.length - at < longestStop && mayBecomeStop(text.slice(at)) ? "open" : undefined;
  }

  #out(text: string): string {
    const show = this.#blank + text;
    this.#blank = "";
    this.#lineStart = false;
    return show;
  }
}

/** All of them, by their first character. */
const stopsAt: ReadonlyMap<string, readonly string[]> = new Map(
  [...stops, ...lines].map((stop, _, all) => [
    stop.charAt(0),
    all.filter((one) => one.startsWith(stop.charAt(0))),
  ]),
);
/** A family's own prefix, possibly incomplete. */
const ownPrefix = /^<[a-z]{1,24}(?:[:_]|$)/;
const oneOf = (words: readonly string[]): string => words.map(literal).join("|");
const wholeStop = new RegExp(`${oneOf([...stops, ...lines])}|<[a-z]{1,24}[:_](?:${oneOf(prefixed)})`, "y");
/** The longest stop, including one with a family's own prefix. */
const longestStop = 40;

function mayBecomeStop(mark: string): boolean {
  if (stopsAt.get(mark.charAt(0))?.some((stop) => stop.startsWith(mark))) return true;
  const own = ownPrefix.exec(mark)?.[0];
  if (own === undefined || own === mark) return own !== undefined;
  return prefixed.some((name) => name.startsWith(mark.slice(own.length)));
}

function isBlank(char: string): boolean {
  return char.trim() === "";
}
