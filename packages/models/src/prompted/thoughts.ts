// The room of reasoning that a server left in the text: `<think>…</think>` at the start of an answer, or what a model
// family writes instead.
//
// Only leading blocks are reasoning, one or several, in any case; a tag later on is part of the answer (F113). Nothing
// inside reasoning ever runs, however much it looks like a call (F114). Tags may be split anywhere between two pieces.

import { literal } from "../patterns.ts";
import { thinkingTags } from "../thinking-tags.ts";
import { opensCalls } from "./native-calls.ts";
import { found } from "./scan.ts";

/** Not toLowerCase, which turns the Kelvin sign into a k, and some characters into two. */
const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const tags: readonly Tags[] = [
  ...["thinking", "thought", "reasoning"].map((name) => ({ open: `<${name}>`, close: `</${name}>` })),
  ...thinkingTags.map(([open, close]) => ({ open: lower(open), close: lower(close) })),
];
const openers: readonly string[] = tags.map(({ open }) => open);
const closers: readonly string[] = tags.map(({ close }) => close);
const longest = Math.max(...[...openers, ...closers].map((tag) => tag.length));

/** A tag in any case, searched for from an offset on, so that a row of tags is scanned only once. */
const patterns: ReadonlyMap<string, RegExp> = new Map(
  closers.map((tag) => [tag, new RegExp(literal(tag), "gi")]),
);
const patternOf = (tag: string): RegExp => patterns.get(tag) as RegExp;

interface Tags {
  open: string;
  close: string;
}

/** What a piece turned out to be. */
export interface Split {
  reasoning: string;
  body: string;
}

/** Splits a text that arrives in pieces. The result does not depend on where the pieces were cut. */
export class ThoughtSplitter {
  #state: "start" | "thought" | "body";
  /** White space before any text. */
  #lead = "";
  #held = "";
  #closer: readonly string[] = closers;

  /** @param startsInThought the chat template itself opened the reasoning: the text begins inside it */
  constructor(startsInThought: boolean = false) {
    this.#state = startsInThought ? "thought" : "start";
  }

  push(piece: string): Split {
    if (this.#state === "body") return { reasoning: "", body: piece };
    if (this.#state === "thought") this.#held += piece;
    else this.#take(piece);
    return this.#split(false);
  }

  /** Ends the text: what was held back is what it looks like. */
  end(): Split {
    const split = this.#split(true);
    if (this.#state !== "thought") return split;
    const held = this.#held;
    this.#held = "";
    return { ...split, reasoning: split.reasoning + held };
  }

  /** Takes a piece; white space before the next block, or before the body, is kept apart. */
  #take(piece: string): void {
    const head = this.#held === "" ? piece.trimStart() : piece;
    this.#lead += piece.slice(0, piece.length - head.length);
    this.#held += head;
  }

  /** What is certain of the held text: blocks of reasoning, one after another, and then the body. */
  #split(over: boolean): Split {
    let reasoning = "";
    for (;;) {
      if (this.#state === "start" && !this.#opens(over)) return { reasoning, body: "" };
      if (this.#state === "start" || this.#state === "body") return { reasoning, body: this.#body() };
      const closed = this.#closes();
      reasoning += closed.reasoning;
      if (!closed.over) return { reasoning, body: "" };
    }
  }

  #body(): string {
    const body = this.#lead + this.#held;
    this.#state = "body";
    this.#lead = "";
    this.#held = "";
    return body;
  }

  /** Whether it is known how the text continues: with reasoning, whose tag is removed, or with the body. */
  #opens(over: boolean): boolean {
    const head = lower(this.#held.slice(0, longest));
    const opened = tags.find(({ open }) => head.startsWith(open));
    if (opened !== undefined) {
      this.#state = "thought";
      this.#closer = [opened.close];
      this.#held = this.#held.slice(opened.open.length);
      this.#lead = "";
      return true;
    }
    return over || !(this.#held.length < longest && openers.some((tag) => tag.startsWith(head)));
  }

  /** The rest of the reasoning as far as it is certain, and whether it is over. */
  #closes(): { reasoning: string; over: boolean } {
    const held = this.#held;
    let at = -1;
    let closer = "";
    for (const tag of this.#closer) {
      const first = found(patternOf(tag), held, 0)?.index ?? -1;
      if (first !== -1 && (at === -1 || first < at)) {
        at = first;
        closer = tag;
      }
    }
    if (at !== -1) {
      this.#state = "start";
      this.#held = "";
      this.#take(held.slice(at + closer.length));
      return { reasoning: held.slice(0, at), over: true };
    }
    // The beginning of a tag is held back; all before it is certainly reasoning.
    const tail = lower(held.slice(-longest));
    let keep = held.length;
    for (let start = 0; start < tail.length; start++)
      if (this.#closer.some((tag) => tag.startsWith(tail.slice(start)))) {
        keep = held.length - tail.length + start;
        break;
      }
    this.#held = held.slice(keep);
    return { reasoning: held.slice(0, keep), over: false };
  }
}

/**
 * Splits off reasoning that was closed but not opened, because the template opened it. Not if the text begins like an
 * answer of the protocol: then the tag is a word inside it.
 */
export function splitStray(body: string): Split {
  const seen = lower(body);
  const head = body.trimStart();
  if (/^[[{`]/.test(head) || opensCalls(head)) return { reasoning: "", body };
  for (const tag of closers) {
    const at = seen.indexOf(tag);
    if (at === -1) continue;
    const opened = openers.some((opener) => {
      const open = seen.indexOf(opener);
      return open !== -1 && open < at;
    });
    if (!opened && !body.slice(0, at).includes("`"))
      return { reasoning: body.slice(0, at), body: body.slice(at + tag.length) };
  }
  return { reasoning: "", body };
}
