// The room of gpt-oss's own format, when a server's parser fails and it leaks into the content (F236).
//
// An answer that opens with a channel is parsed: `analysis` is reasoning, `final` is the answer, a message to `functions.x`
// is a call. Anything else passes unchanged, except for one token at its very end. Control tokens in the middle of an
// ordinary answer are text, because models write about them too.

import { BareChannels } from "../../prompted/bare-channels.ts";

export type Say = (kind: "text" | "reasoning", text: string) => void;

export interface HarmonyCalls {
  /** A call begins; the callee chooses its key. */
  open(name: string): void;
  args(piece: string): void;
  /** The model ended the call. */
  close(): void;
}

const token: RegExp = /<\|(start|channel|message|constrain|end|call|return)\|>/g;
const tokenStart: RegExp = /<(?:\|[a-z]{0,9}\|?)?$/;

/**
 * The tool that a message is for; undefined if it is for nobody. The model leaves out the namespace at times: what it says
 * to a tool is no answer. Its thoughts may be for a tool of OpenAI's own, that is not here.
 */
function recipientIn(header: string, isThought: boolean): string | undefined {
  const [, space, name] = /\bto=(functions\.)?([^\s<]+)/.exec(header) ?? [];
  if (space !== undefined) return name;
  return isThought || name === "user" || name === "assistant" ? undefined : name;
}

export class HarmonySplitter {
  readonly #say: Say;
  readonly #calls: HarmonyCalls;
  #state: "start" | "plain" | "header" | "body" | "between" = "start";
  #kind: "text" | "reasoning" | "call" = "text";
  #header = "";
  #blank: string[] = [];
  #held = "";
  readonly #bare = new BareChannels();

  constructor(say: Say, calls: HarmonyCalls) {
    this.#say = say;
    this.#calls = calls;
  }

  push(text: string): void {
    this.#read(this.#bare.push(text));
  }

  #read(text: string): void {
    let seen = this.#held + text;
    this.#held = "";
    if (this.#state === "start") {
      const solid = seen.search(/\S/);
      if (solid !== 0) this.#blank.push(solid === -1 ? seen : seen.slice(0, solid));
      if (solid === -1) return;
      seen = seen.slice(solid);
      if ("<|channel|>".startsWith(seen) || "<|start|>".startsWith(seen)) {
        if (seen !== "<|channel|>" && seen !== "<|start|>") {
          this.#held = seen;
          return;
        }
      }
      this.#state = seen.startsWith("<|channel|>") || seen.startsWith("<|start|>") ? "between" : "plain";
      if (this.#state === "plain") seen = this.#blank.join("") + seen;
      this.#blank = [];
    }
    const cut = (
      this.#state === "plain" ? /<(?:\|[a-z]{0,9}\|?)?$|<\|(?:end|call|return)\|>$/ : tokenStart
    ).exec(seen);
    if (cut !== null) {
      this.#held = seen.slice(cut.index);
      seen = seen.slice(0, cut.index);
    }
    if (this.#state === "plain") {
      if (seen !== "") this.#say("text", seen);
      return;
    }
    let at = 0;
    for (const match of seen.matchAll(token)) {
      this.#body(seen.slice(at, match.index));
      this.#token(match[1] ?? "");
      at = match.index + match[0].length;
    }
    this.#body(seen.slice(at));
  }

  end(): void {
    this.#read(this.#bare.end());
    const held = this.#held;
    this.#held = "";
    if (this.#state === "start" || this.#state === "plain") {
      const rest = this.#blank.join("") + (/^<\|(?:end|call|return)\|>$/.test(held) ? "" : held);
      this.#blank = [];
      if (rest !== "") this.#say("text", rest);
    } else this.#body(held);
  }

  #body(text: string): void {
    if (text === "") return;
    if (this.#state === "header") this.#header += text;
    else if (this.#state === "body") {
      if (this.#kind === "call") this.#calls.args(text);
      else this.#say(this.#kind, text);
    }
  }

  #token(name: string): void {
    if (name === "message") {
      const isThought = /\banalysis\b/.test(this.#header);
      const to = recipientIn(this.#header, isThought);
      if (to !== undefined) {
        this.#kind = "call";
        this.#calls.open(to);
      } else this.#kind = isThought ? "reasoning" : "text";
      this.#header = "";
      this.#state = "body";
      return;
    }
    if (name === "constrain") return;
    if (this.#state === "body" && this.#kind === "call" && name === "call") this.#calls.close();
    if (name === "start" || name === "channel") {
      // The recipient may come before the channel.
      if (this.#state !== "header") this.#header = "";
      this.#header += " ";
      this.#state = "header";
    } else this.#state = "between";
  }
}
