// The room of thinking that a server leaves in the content: `<think>…</think>` becomes reasoning again (F113).
//
// Only blocks that open the answer are thinking, one or several; the same tag later on is text, for models write about tags too. A tag
// may come in pieces, so what could still become one is held back, never more than a tag's length: the work is linear.
//
// gpt-oss is served under any name. An answer that opens with a whole head of its format is read as that (F236); but where
// nobody knows the model by name, its calls stay in the text, in the words they were written in.

import { type ThinkingTag, thinkingTags } from "../../thinking-tags.ts";
import { type HarmonyCalls, HarmonySplitter, type Say } from "./harmony.ts";

/** Where thinking stands in a text: see the quirk. */
export type ThinkTags = "leading" | "starts_inside" | "nova";

/** Nova's. Of other models people ask for these tags themselves, and look for them in the text. */
const novas: readonly ThinkingTag[] = [["<thinking>", "</thinking>"]];

const heads: readonly string[] = ["<|channel|>", "<|start|>assistant"];
const wholeHead =
  /^(?:<\|start\|>assistant[^<]{0,80})?<\|channel\|>\s?(?:analysis|commentary|final)\b[^<]{0,80}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>/;
const longestHead = 256;

export class ThinkSplitter {
  readonly #say: Say;
  readonly #startsInside: boolean;
  readonly #tags: readonly ThinkingTag[];
  #state: "start" | "inside" | "after" | "text" | "channels" = "start";
  #channels: HarmonySplitter | undefined;
  #close = "</think>";
  /** Something was thought: blanks alone are nothing. */
  #thought = false;
  /** White space that is told only when something follows it. */
  #blank: string[] = [];
  /** What may be the start of a tag. */
  #held = "";

  /** `where`: whether the template opened the block before the answer began (`starts_inside`), or it is told in Nova's tags (`nova`). */
  constructor(say: Say, where: ThinkTags) {
    this.#say = say;
    this.#startsInside = where === "starts_inside";
    this.#tags = where === "nova" ? novas : thinkingTags;
  }

  /** The server tells reasoning apart itself: what comes as content is content. */
  plain(): void {
    if (this.#state !== "start") return;
    this.#state = "text";
    this.end();
  }

  /** Whether all that comes is text, to the end of the answer. */
  get isPlain(): boolean {
    return this.#state === "text";
  }

  push(text: string): void {
    let rest = text;
    while (rest !== "")
      rest =
        this.#state === "text"
          ? this.#text(rest)
          : this.#state === "inside"
            ? this.#inside(rest)
            : this.#state === "channels"
              ? this.#inChannels(rest)
              : this.#edge(rest);
  }

  /** Nothing more comes: what was held back is what it is. */
  end(): void {
    this.#channels?.end();
    const kind = this.#state === "inside" ? "reasoning" : "text";
    const rest = this.#state === "after" || kind === "reasoning" ? this.#held : this.#blanks() + this.#held;
    this.#held = "";
    if (rest !== "") this.#say(kind, kind === "reasoning" ? this.#blanks() + rest : rest);
    this.#blank = [];
  }

  #text(text: string): string {
    this.#say("text", text);
    return "";
  }

  #inChannels(text: string): string {
    this.#channels ??= new HarmonySplitter(this.#say, written(this.#say));
    this.#channels.push(text);
    return "";
  }

  /** At the start of the answer, or right after a block: white space waits for what follows it. */
  #edge(text: string): string {
    if (this.#held === "") {
      const solid = text.search(/\S/);
      if (solid !== 0) this.#blank.push(solid === -1 ? text : text.slice(0, solid));
      if (solid === -1) return "";
      text = text.slice(solid);
    }
    const seen = this.#held + text;
    this.#held = "";
    for (const [open, close] of this.#tags)
      if (seen.startsWith(open)) {
        this.#close = close;
        this.#state = "inside";
        this.#blank = [];
        return seen.slice(open.length);
      }
    const opensHead = heads.some((head) => seen.startsWith(head) || head.startsWith(seen));
    if (opensHead && wholeHead.test(seen)) {
      this.#state = "channels";
      this.#blank = [];
      return seen;
    }
    const mayBeHead = opensHead && seen.length < longestHead && !seen.includes("<|message|>");
    if (mayBeHead || this.#tags.some(([open]) => open.startsWith(seen))) {
      this.#held = seen;
      return "";
    }
    if (this.#state === "after") {
      this.#blank = [];
      this.#state = "text";
      return seen;
    }
    this.#state = this.#startsInside ? "inside" : "text";
    // Inside, blanks go out with the first word, as all reasoning does.
    return this.#startsInside ? seen : this.#blanks() + seen;
  }

  #inside(text: string): string {
    const seen = this.#held + text;
    this.#held = "";
    const at = seen.indexOf(this.#close);
    const keep = at === -1 ? tailOf(seen, this.#close) : 0;
    const told = at === -1 ? seen.slice(0, seen.length - keep) : seen.slice(0, at);
    // A block of white space alone is how some models say that they did not think.
    if (told.trim() === "" && (this.#blank.length > 0 || !this.#thought)) {
      if (told !== "") this.#blank.push(told);
    } else {
      this.#thought = true;
      this.#say("reasoning", this.#blanks() + told);
    }
    if (at === -1) {
      this.#held = keep === 0 ? "" : seen.slice(-keep);
      return "";
    }
    this.#state = "after";
    this.#blank = [];
    return seen.slice(at + this.#close.length);
  }

  #blanks(): string {
    const blanks = this.#blank.join("");
    this.#blank = [];
    return blanks;
  }
}

/** Calls as the text that they are. */
const written = (say: Say): HarmonyCalls => ({
  open: (name) => say("text", `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>`),
  args: (piece) => say("text", piece),
  close: () => say("text", "<|call|>"),
});

/** How much of the text's end may be the start of the word. */
export function tailOf(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length--)
    if (text.endsWith(word.slice(0, length))) return length;
  return 0;
}
