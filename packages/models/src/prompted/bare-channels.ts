// The room of gpt-oss's channels when a server dropped their tokens and kept the words between them, or replaced them with
// tags.
//
// `analysisWe look.assistantfinalDone.` gets its tokens back and is then parsed as usual (F236); so is Bedrock's
// `<reasoning>We look.</reasoning>Done.` A text that begins with the bare word is held back until the next of these words
// arrives; if none does and the text is short, it is ordinary text. Each piece is looked at once, together with a short
// tail of the one before.

import { anyOf } from "../patterns.ts";

const tag = "<reasoning>";
const word = "analysis";
const opening: RegExp = /^\s*(?:analysis(?=\p{Lu}|\p{Lo})|<reasoning>)/u;
/** The header of the next message. Its recipient is before the channel's name or after it. */
const head: RegExp = anyOf(
  "g",
  /<\/reasoning>/,
  /assistant(?: to=functions\.([\w.-]{1,64}?))?(analysis|commentary|final)(?: to=functions\.([\w.-]{1,64}))?(?: ?(?:json|code)(?=[{[]))?/,
);
/** Text that may become a header with what follows. */
const mayBeHead: RegExp =
  /(?:<(?:\/[a-z]{0,9})?|a(?:s(?:s(?:i(?:s(?:t(?:an?)?)?)?)?)?)?|assistant[ \w.=-]{0,160})$/;
const longestHead = 170;
/** In characters. A longer text does not begin with a name like `analysisResult`. */
const longestHeld = 2000;

export class BareChannels {
  #state: "start" | "plain" | "held" | "tagged" | "open" = "start";
  /** The first message, until it is known to be one. */
  #first: string[] = [];
  #length = 0;
  #tail = "";

  /** Takes a piece; returns what can be passed on, with the channels' tokens. */
  push(text: string): string {
    const seen = this.#tail + text;
    this.#tail = "";
    if (this.#state === "start" && !mayOpen(seen)) this.#state = stateOf(seen);
    if (this.#state === "plain") return seen;
    const kept =
      this.#state === "start" ? seen.length : (mayBeHead.exec(seen.slice(-longestHead))?.[0].length ?? 0);
    const solid = seen.length - kept;
    this.#tail = seen.slice(solid);
    return this.#marked(seen.slice(0, solid));
  }

  end(): string {
    const rest = this.#marked(this.#tail) + this.#first.join("");
    this.#tail = "";
    this.#first = [];
    return rest;
  }

  #marked(text: string): string {
    if (this.#state === "start" || this.#state === "plain") return text;
    const marked = text.replaceAll(head, withTokens);
    if (this.#state === "open") return marked;
    this.#first.push(marked);
    this.#length += text.length;
    if (this.#state === "held" && marked === text && this.#length < longestHeld) return "";
    const first = this.#first.join("").replace(opening, "<|channel|>analysis<|message|>");
    this.#state = "open";
    this.#first = [];
    return first;
  }
}

function mayOpen(text: string): boolean {
  const solid = text.trimStart();
  return (solid !== tag && tag.startsWith(solid)) || word.startsWith(solid);
}

/** How a text begins. */
const stateOf = (text: string): "plain" | "held" | "tagged" =>
  !opening.test(text) ? "plain" : text.trimStart().startsWith(tag) ? "tagged" : "held";

function withTokens(_: string, before?: string, channel: string = "final", behind?: string): string {
  const name = before ?? behind;
  const to = name === undefined ? "" : ` to=functions.${name} <|constrain|>json`;
  return `<|end|><|start|>assistant<|channel|>${channel}${to}<|message|>`;
}

/** A whole text, with the tokens of its channels restored. */
export function withChannelTokens(text: string): string {
  const channels = new BareChannels();
  return channels.push(text) + channels.end();
}
