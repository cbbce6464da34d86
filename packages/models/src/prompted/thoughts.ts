// The room of thoughts that a server left in the text: `<think>…</think>` at the head of an answer, or what a family of
// models writes in its place.
//
// Only a leading block is thought; a tag later on is part of what the answer says (F113). What stands in a thought never
// runs, however much it looks like a call (F114). Tags may be cut anywhere between two pieces.

import { opensCalls } from "./native-calls.ts";

const named: readonly Tags[] = ["think", "thinking", "thought", "reasoning"].map((name) => ({
  open: `<${name}>`,
  close: `</${name}>`,
}));
const tags: readonly Tags[] = [
  ...named,
  // Magistral, Command, Seed, MiniMax, Gemma, Kimi.
  { open: "[THINK]", close: "[/THINK]" },
  { open: "<|START_THINKING|>", close: "<|END_THINKING|>" },
  { open: "<seed:think>", close: "</seed:think>" },
  { open: "<mm:think>", close: "</mm:think>" },
  { open: "<|channel>thought", close: "<channel|>" },
  { open: "◁think▷", close: "◁/think▷" },
  { open: "<|open|>think<|sep|>", close: "<|close|>think<|sep|>" },
];
const openers: readonly string[] = tags.map(({ open }) => open);
const closers: readonly string[] = tags.map(({ close }) => close);
const longest = Math.max(...[...openers, ...closers].map((tag) => tag.length));

interface Tags {
  open: string;
  close: string;
}

/** What a piece turned out to be. */
export interface Split {
  reasoning: string;
  body: string;
}

/** Splits a text that arrives in pieces. What it gives does not depend on where the pieces were cut. */
export class ThoughtSplitter {
  #state: "start" | "thought" | "body";
  /** Blanks before anything was said. */
  #lead = "";
  #held = "";
  #closer: readonly string[] = closers;

  /** @param startsInThought the template itself opened the thought: the text begins inside it */
  constructor(startsInThought: boolean = false) {
    this.#state = startsInThought ? "thought" : "start";
  }

  push(piece: string): Split {
    if (this.#state === "body") return { reasoning: "", body: piece };
    if (this.#state === "thought") {
      this.#held += piece;
      return this.#think();
    }
    const head = this.#held === "" ? piece.trimStart() : piece;
    this.#lead += piece.slice(0, piece.length - head.length);
    this.#held += head;
    return this.#begin(false);
  }

  /** The text is over: what was held back is what it looks like. */
  end(): Split {
    const split = this.#state === "start" ? this.#begin(true) : { reasoning: "", body: "" };
    if (this.#state !== "thought") return split;
    const held = this.#held;
    this.#held = "";
    return { ...split, reasoning: split.reasoning + held };
  }

  #begin(over: boolean): Split {
    const head = this.#held;
    const opened = tags.find(({ open }) => head.startsWith(open));
    if (opened !== undefined) {
      this.#state = "thought";
      this.#closer = [opened.close];
      this.#held = head.slice(opened.open.length);
      return this.#think();
    }
    const mayOpen = head.length < longest && openers.some((tag) => tag.startsWith(head));
    if (mayOpen && !over) return { reasoning: "", body: "" };
    this.#state = "body";
    this.#held = "";
    return { reasoning: "", body: this.#lead + head };
  }

  #think(): Split {
    const held = this.#held;
    let at = -1;
    let closer = "";
    for (const tag of this.#closer) {
      const found = held.indexOf(tag);
      if (found !== -1 && (at === -1 || found < at)) {
        at = found;
        closer = tag;
      }
    }
    if (at !== -1) {
      this.#state = "body";
      this.#held = "";
      return { reasoning: held.slice(0, at), body: held.slice(at + closer.length) };
    }
    // A tag that has only begun is held back; all before it is thought for certain.
    const from = Math.max(0, held.length - longest);
    let keep = held.length;
    for (let start = from; start < held.length; start++)
      if (this.#closer.some((tag) => tag.startsWith(held.slice(start)))) {
        keep = start;
        break;
      }
    this.#held = held.slice(keep);
    return { reasoning: held.slice(0, keep), body: "" };
  }
}

/**
 * A thought that was closed but never opened, because the template opened it. Only where the text does not begin like
 * an answer of the protocol: there the tag is a word inside it.
 */
export function splitStray(body: string): Split {
  const head = body.trimStart();
  if (/^[[{`]/.test(head) || opensCalls(head)) return { reasoning: "", body };
  for (const tag of closers) {
    const at = body.indexOf(tag);
    if (at === -1) continue;
    const opened = openers.some((opener) => {
      const open = body.indexOf(opener);
      return open !== -1 && open < at;
    });
    if (!opened && !body.slice(0, at).includes("`"))
      return { reasoning: body.slice(0, at), body: body.slice(at + tag.length) };
  }
  return { reasoning: "", body };
}
