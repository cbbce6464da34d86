// The room of thoughts: separates `<think>…</think>` in a model's text from the answer.
//
// A tag may arrive in pieces, so what could still become one is held back, never more than a tag's length. Every text is
// read once: an unclosed tag, or sixty thousand beginnings of one, cost no more than their length (F113, F243).

import type { ReasoningPart, TextPart } from "../message.ts";

/** A piece of text, or of a thought. */
export type ThoughtPiece = Pick<TextPart, "type" | "text"> | Pick<ReasoningPart, "type" | "text">;

export interface ThoughtOptions {
  /** The chat template opened the thought before the answer began. Default: false. */
  startsInThought?: boolean;
  /** `all`: every block is a thought. `leading`: only those that open the answer, one or several; later tags are text, for models write about tags too. Default: `all`. */
  blocks?: "all" | "leading";
}

const open = "<think>";
const close = "</think>";

/**
 * Separates thoughts from text while it arrives. Tags are recognised in upper and lower case, and are removed; a closing
 * tag without an opening one is dropped (with `leading` only before the first text).
 */
export class ThoughtSplitter {
  readonly #leading: boolean;
  #inside: boolean;
  /** Tags have no meaning any more. */
  #plain = false;
  #held = "";
  /** With `leading`: white space before anything else. */
  #blank = "";

  constructor(options: ThoughtOptions = {}) {
    this.#leading = options.blocks === "leading";
    this.#inside = options.startsInThought ?? false;
  }

  /** Takes the next piece of the text; returns what is certain now. */
  push(chunk: string): ThoughtPiece[] {
    const pieces: ThoughtPiece[] = [];
    const text = this.#held + chunk;
    this.#held = "";
    let at = 0;
    while (at < text.length) {
      if (this.#plain) {
        this.#say(pieces, text.slice(at));
        break;
      }
      const tagAt = text.indexOf("<", at);
      if (tagAt < 0) {
        this.#say(pieces, text.slice(at));
        break;
      }
      if (tagAt > at) this.#say(pieces, text.slice(at, tagAt));
      if (this.#plain) {
        at = tagAt;
        continue;
      }
      const tag = tagIn(text, tagAt);
      if (tag === "unfinished") {
        this.#held = text.slice(tagAt);
        break;
      }
      if (tag === undefined || (tag === open && this.#inside)) {
        this.#say(pieces, "<");
        at = tagAt + 1;
        continue;
      }
      at = tagAt + tag.length;
      this.#inside = tag === open;
      if (this.#inside) this.#blank = "";
    }
    return pieces;
  }

  /** The text has ended: returns what was held back. */
  end(): ThoughtPiece[] {
    const pieces: ThoughtPiece[] = [];
    const held = this.#held;
    this.#held = "";
    if (held !== "") this.#say(pieces, held);
    if (this.#blank !== "") add(pieces, "text", this.#blank);
    this.#blank = "";
    return pieces;
  }

  #say(pieces: ThoughtPiece[], text: string): void {
    if (this.#inside) {
      add(pieces, "reasoning", text);
      return;
    }
    if (this.#leading && !this.#plain) {
      if (text.trim() === "") {
        this.#blank += text;
        return;
      }
      this.#plain = true;
    }
    add(pieces, "text", this.#blank + text);
    this.#blank = "";
  }
}

/** The tag at a `<`; `unfinished` if more text could make it one; undefined if it cannot become one. */
function tagIn(text: string, at: number): typeof open | typeof close | "unfinished" | undefined {
  // Not toLowerCase: it turns a Kelvin sign into a k.
  const seen = text.slice(at, at + close.length).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (seen.startsWith(open)) return open;
  if (seen === close) return close;
  return open.startsWith(seen) || close.startsWith(seen) ? "unfinished" : undefined;
}

function add(pieces: ThoughtPiece[], type: ThoughtPiece["type"], text: string): void {
  const last = pieces.at(-1);
  if (last?.type === type) last.text += text;
  else pieces.push({ type, text });
}

/** A whole text as text and reasoning parts, in order. */
export function splitThoughts(text: string, options: ThoughtOptions = {}): ThoughtPiece[] {
  const splitter = new ThoughtSplitter(options);
  const pieces = splitter.push(text);
  for (const { type, text: rest } of splitter.end()) add(pieces, type, rest);
  return pieces;
}

/**
 * The text without its thoughts: removes complete blocks, then an unclosed thought up to the end, then closing tags that
 * remain. If only white space is left the result is empty; otherwise it is not trimmed.
 */
export function stripThoughts(text: string): string {
  const closed = withoutBlocks(text);
  const dangling = closed.search(/<think>/i);
  const visible = (dangling < 0 ? closed : closed.slice(0, dangling)).replace(/<\/think>/gi, "");
  return visible.trim() === "" ? "" : visible;
}

/** Removes each `<think>…</think>`, up to the nearest closing tag. Each search starts where the last one ended. */
function withoutBlocks(text: string): string {
  const tag = /<(\/?)think>/gi;
  let kept = "";
  let from = 0;
  let opened = -1;
  for (let match = tag.exec(text); match !== null; match = tag.exec(text)) {
    if (match[1] === "") {
      if (opened < 0) opened = match.index;
    } else if (opened >= 0) {
      kept += text.slice(from, opened);
      from = tag.lastIndex;
      opened = -1;
    }
  }
  return kept + text.slice(from);
}

/**
 * Whether the text of an answer is shown to the user. That of an answer with calls is shown if thoughts are shown, or if
 * nothing follows it.
 */
export function shouldEmitResponseText(answer: {
  hasCalls: boolean;
  emitThoughts: boolean;
  lastIteration: boolean;
}): boolean {
  return !answer.hasCalls || answer.emitThoughts || answer.lastIteration;
}

const headings = ["意図：", "意図:", "Intent:", "intent:", "Thinking:", "thinking:"];
const defaultThought = "まず、必要な情報を確認して進めます。";

/** A text as one thought block, without the heading some models put before it. */
export function thoughtBlock(text: string): string {
  let thought = text.trim();
  const heading = headings.find((one) => thought.startsWith(one));
  if (heading !== undefined) thought = thought.slice(heading.length).trim();
  if (thought === "") thought = defaultThought;
  return thought.startsWith(open) && thought.endsWith(close) ? thought : `${open}\n${thought}\n${close}`;
}

/** The thought that is shown for an answer that calls tools and has no text. */
export function toolIntent(tools: readonly string[]): string {
  const names = [...new Set(tools)];
  if (names.length === 0) return thoughtBlock("");
  if (names.length === 1) return thoughtBlock(`まず、${names[0]} ツールで必要な情報を確認します。`);
  const first = names.slice(0, 3).join(", ");
  return thoughtBlock(
    `必要な情報を得るため、次のツールを順に確認します: ${first}${names.length > 3 ? "..." : ""}`,
  );
}
