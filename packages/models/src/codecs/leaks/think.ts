// The room of thinking that a server leaves in the content: `<think>…</think>` becomes reasoning (F113).
//
// Only blocks at the start of the answer are thinking, one or several; the same tag later on is text, because models write
// about tags too. If the server takes the reasoning apart, only a closing tag that it left before the text is none of it.
// A tag may come in pieces, so what could still become one is held back, never more than a tag's length:
// the work is linear.
//
// gpt-oss is served under any name. An answer that opens with a whole header of its format is parsed as that (F236); but
// unless the model is known by name, its calls stay text as they were written.

import { type ThinkingTag, thinkingTags } from "../../thinking-tags.ts";
import { type HarmonyCalls, HarmonySplitter, type Say } from "./harmony.ts";

/** Where thinking is in a text: see the quirk. */
export type ThinkTags = "leading" | "starts_inside" | "nova";

/** Nova's tags. With other models users ask for these tags themselves, and look for them in the text. */
const novas: readonly ThinkingTag[] = [["<thinking>", "</thinking>"]];

/** What opens an answer: Command's token, and the headers of templates that a server did not end with one. */
const openers: readonly string[] = [
  "<|START_RESPONSE|>",
  "<|im_start|>assistant",
  "<|start_header_id|>assistant<|end_header_id|>",
];

/**
 * What a text may begin with, beside reasoning or behind it: no text that anybody asked for does, because it closes nothing.
 * Where there is no reasoning, a closing tag must be a line of its own: an answer may be about tags.
 */
const strays: readonly string[] = [...[...thinkingTags, ...novas].map(([, close]) => close), ...openers];

const heads: readonly string[] = ["<|channel|>", "<|start|>assistant"];
const wholeHead =
  /^(?:<\|start\|>assistant[^<]{0,80})?<\|channel\|>\s?(?:analysis|commentary|final)\b[^<]{0,80}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>/;
const longestHead = 256;

export class ThinkSplitter {
  readonly #say: Say;
  readonly #startsInside: boolean;
  readonly #tags: readonly ThinkingTag[];
  #state: "start" | "inside" | "after" | "apart" | "text" | "channels" = "start";
  #channels: HarmonySplitter | undefined;
  #close = "</think>";
  /** There was some thinking other than white space. */
  #thought = false;
  /** White space that is emitted only if something follows it. */
  #blank: string[] = [];
  /** Text that may be the start of a tag. */
  #held = "";

  /** @param where whether the chat template already opened the block (`starts_inside`), or Nova's tags are used (`nova`) */
  constructor(say: Say, where: ThinkTags) {
    this.#say = say;
    this.#startsInside = where === "starts_inside";
    this.#tags = where === "nova" ? novas : thinkingTags;
  }

  /** The server separates reasoning itself: content is content, but for a closing tag that it may begin with. */
  plain(): void {
    if (this.#state !== "start") return;
    this.#state = "apart";
    this.end();
  }

  /** Whether everything up to the end of the answer is text. */
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

  /** Ends the text: what was held back is emitted as what it is. */
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
    if (this.#state === "apart") return this.#beside(seen);
    const isInside = this.#startsInside && this.#state === "start";
    const stray = isInside ? undefined : strayIn(seen);
    if (stray !== undefined && this.#closesNothing(stray, seen)) return this.#behind(stray, seen);
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
    const mayBeTag = this.#tags.some(([open]) => open.startsWith(seen)) || (!isInside && mayBeStray(seen));
    if (mayBeHead || mayBeTag) {
      this.#held = seen;
      return "";
    }
    if (this.#state === "after") {
      this.#blank = [];
      this.#state = "text";
      return seen;
    }
    this.#state = this.#startsInside ? "inside" : "text";
    // Inside a block, white space is emitted with the first word, like all reasoning.
    return this.#startsInside ? seen : this.#blanks() + seen;
  }

  /** The first text beside reasoning that came apart. */
  #beside(seen: string): string {
    const stray = strayIn(seen);
    if (stray !== undefined) return this.#behind(stray, seen);
    if (mayBeStray(seen)) {
      this.#held = seen;
      return "";
    }
    this.#state = "text";
    return this.#blanks() + seen;
  }

  /** Whether a closing tag is one that was left: right behind a block, or alone on the first line. */
  #closesNothing(stray: string, seen: string): boolean {
    return (
      this.#state === "after" || openers.includes(stray) || /^[ \t\r]{0,16}\n/.test(seen.slice(stray.length))
    );
  }

  #behind(tag: string, seen: string): string {
    this.#state = "after";
    this.#blank = [];
    return seen.slice(tag.length);
  }

  #inside(text: string): string {
    const seen = this.#held + text;
    this.#held = "";
    const at = seen.indexOf(this.#close);
    const keep = at === -1 ? tailOf(seen, this.#close) : 0;
    const told = at === -1 ? seen.slice(0, seen.length - keep) : seen.slice(0, at);
    // Some models write a block of white space alone if they did not think.
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

const strayIn = (text: string): string | undefined => strays.find((stray) => text.startsWith(stray));
/** Also what may still turn out to be a line of its own. */
const mayBeStray = (text: string): boolean =>
  strays.some(
    (stray) => stray.startsWith(text) || (text.startsWith(stray) && blankLine.test(text.slice(stray.length))),
  );
const blankLine = /^[ \t\r]{0,16}$/;

/** Emits calls as the text that they are. */
const written = (say: Say): HarmonyCalls => ({
  open: (name) => say("text", `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>`),
  args: (piece) => say("text", piece),
  close: () => say("text", "<|call|>"),
});

/** How many characters at the text's end may be the start of the word. */
export function tailOf(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length--)
    if (text.endsWith(word.slice(0, length))) return length;
  return 0;
}
