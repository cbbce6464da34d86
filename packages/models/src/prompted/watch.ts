// The room of showing an answer while it arrives, before anybody knows what it is.
//
// Only what can no longer become part of a call is shown: prose up to a line that may begin one, and the text of a
// `response` as it is written. The rest waits for the end, when the whole is read. Whitespace at the end waits too, because
// it is no part of a finished answer. Each character is looked at once, and those that begin nothing are taken together.

import { literal } from "../literal.ts";

/** Beginnings after which nothing more is shown: calls, leaked control tokens, thoughts that were closed late. */
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
  "[TOOL_CALLS]",
  "[TOOL_REQUEST]",
  "functools[",
  "function call{",
  "</think>",
  "</thinking>",
  "</thought>",
  "</reasoning>",
  "</seed:think>",
  "</mm:think>",
  "[/THINK]",
  "<channel|>",
  "◁/think▷",
  "<start_of_turn>",
  "<end_of_turn>",
  "<turn|>",
  "<s>",
  "</s>",
];
/** The same with a prefix of a family's own. */
const prefixed: readonly string[] = ["tool_call", "function_call", "invoke name="];
/** It stops nothing by itself: what stands inside is shown. */
const fence = "```";
/** At the start of a line: ReAct's, and Gemma's call without its tokens. */
const lines: readonly string[] = ["Action:", "call:", fence];
/** What none of them begins with, nor is blank. */
const plain = /[^\s<[\]f◁]+/y;

type Mode = "lead" | "prose" | "envelope" | "held";

export class AnswerWatch {
  #mode: Mode = "lead";
  readonly #envelope = new ResponseWatch();
  /** Whitespace that is shown once something follows it. */
  #blank = "";
  /** The end of what came, where it may be the beginning of a stop. */
  #mark = "";
  #lineStart = true;
  #inFence = false;

  /** Takes a piece of the answer; gives what of it may be shown. */
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
      const run = this.#lineStart ? undefined : matchAt(plain, text, at);
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

  /** What of a `response` has been read, when the answer is an envelope. */
  get response(): string | undefined {
    return this.#envelope.begun;
  }

  /** The stop that stands at a place, or `open` where what follows decides whether it is one. */
  #stopAt(text: string, at: number): string | undefined {
    const char = text.charAt(at);
    if (this.#lineStart && char === "{" && !this.#inFence) return char;
    const mayStop =
      "<[]f◁".includes(char) ||
      (this.#lineStart && (char === "`" || ("Ac".includes(char) && !this.#inFence)));
    if (!mayStop) return undefined;
    const whole = matchAt(wholeStop, text, at);
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
/** A prefix of a family's own, as far as it has come. */
const ownPrefix = /^<[a-z]{1,24}(?:[:_]|$)/;
const anyOf = (words: readonly string[]): string => words.map(literal).join("|");
const wholeStop = new RegExp(`${anyOf([...stops, ...lines])}|<[a-z]{1,24}[:_](?:${anyOf(prefixed)})`, "y");
/** None of them is longer, nor is one with a prefix of a family's own. */
const longestStop = 40;

function mayBecomeStop(mark: string): boolean {
  if (stopsAt.get(mark.charAt(0))?.some((stop) => stop.startsWith(mark))) return true;
  const own = ownPrefix.exec(mark)?.[0];
  if (own === undefined || own === mark) return own !== undefined;
  return prefixed.some((name) => name.startsWith(mark.slice(own.length)));
}

const longestKey = 32;
/** What stands in a string for itself, and is no half of a character. */
const simple = /[^"\\\ud800-\udfff]+/y;

/** Reads the text of `response` out of an object that is still being written. */
class ResponseWatch {
  begun: string | undefined;
  #depth = 0;
  #inString = false;
  #escape = "";
  #isKey = false;
  #key = "";
  #over = false;
  #inResponse = false;
  /** The first half of a character that is written as two escapes. */
  #half = "";
  #blank = "";

  push(piece: string): string {
    let show = "";
    for (let at = 0; at < piece.length && !this.#over; ) {
      simple.lastIndex = at;
      const run =
        this.#inString && this.#escape === "" && this.#half === "" ? simple.exec(piece)?.[0] : undefined;
      show += run === undefined ? this.#take(piece.charAt(at)) : this.#said(run);
      at += run?.length ?? 1;
    }
    if (show === "") return "";
    this.begun = (this.begun ?? "") + show;
    // Blanks at the end wait: a finished answer may have none there.
    const kept = show.trimEnd();
    const before = this.#blank;
    this.#blank = kept === "" ? before + show : show.slice(kept.length);
    return kept === "" ? "" : before + kept;
  }

  #take(char: string): string {
    if (this.#inString) return this.#inside(char);
    if (char === '"') {
      this.#inString = true;
      this.#inResponse = this.#depth === 1 && !this.#isKey && this.#key === "response";
      if (this.#inResponse) this.begun ??= "";
      if (this.#depth === 1 && this.#isKey) this.#key = "";
    } else if (char === "{" || char === "[") {
      this.#depth += 1;
      if (this.#depth === 1) this.#isKey = true;
    } else if (char === "}" || char === "]") {
      this.#depth -= 1;
      if (this.#depth <= 0) this.#over = true;
    } else if (this.#depth === 1 && char === ":") {
      this.#isKey = false;
      // A call is coming: its thought is text, its response is not.
      if (this.#key.startsWith("tool_call") || this.#key === "function_call") this.#over = true;
    } else if (this.#depth === 1 && char === ",") this.#isKey = true;
    return "";
  }

  #inside(char: string): string {
    const text = this.#escape === "" ? this.#plain(char) : this.#anyOf(char);
    return text === undefined ? "" : this.#said(text);
  }

  /** What a string says. Of a key no more is kept than tells the names apart. */
  #said(text: string): string {
    if (!this.#inResponse) {
      if (this.#depth === 1 && this.#isKey && this.#key.length < longestKey)
        this.#key += text.slice(0, longestKey - this.#key.length);
      return "";
    }
    const whole = this.#half + text;
    this.#half = "";
    if (/[\ud800-\udbff]$/.test(whole)) {
      this.#half = whole.slice(-1);
      return whole.slice(0, -1);
    }
    return whole;
  }

  #plain(char: string): string | undefined {
    if (char === "\\") {
      this.#escape = char;
      return undefined;
    }
    if (char !== '"') return char;
    this.#inString = false;
    if (this.#inResponse) this.#over = true;
    return undefined;
  }

  #anyOf(char: string): string | undefined {
    this.#escape += char;
    if (this.#escape.startsWith("\\u") && this.#escape.length < 6) return undefined;
    const written = this.#escape;
    this.#escape = "";
    try {
      return JSON.parse(`"${written}"`) as string;
    } catch {
      // No JSON: what is shown of it is decided at the end.
      this.#over = true;
      return undefined;
    }
  }
}

/** What a sticky pattern finds at a place. */
function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function isBlank(char: string): boolean {
  return char.trim() === "";
}
