// The room of gpt-oss's channels where a server dropped their tokens and kept the words between them.
//
// `analysisWe look.assistantfinalDone.` gets its tokens back, and is read like any other (F236). A text that opens so is held
// until the next of these words comes: where none does, it is a text. Each piece is looked at once, with a short tail of the last.

const opening: RegExp = /^\s*analysis(?=\p{Lu}|\p{Lo})/u;
const mayOpen: RegExp = /^\s*(?:a(?:n(?:a(?:l(?:y(?:s(?:is?)?)?)?)?)?)?)?$/;
/** What opens the next message. Its recipient stands before the channel's name or behind it. */
const head: RegExp =
  /assistant(?: to=functions\.([\w.-]{1,64}?))?(analysis|commentary|final)(?: to=functions\.([\w.-]{1,64}))?(?: ?(?:json|code)(?=[{[]))?/g;
/** What may become one with what follows it. */
const mayBeHead: RegExp = /(?:a(?:s(?:s(?:i(?:s(?:t(?:an?)?)?)?)?)?)?|assistant[ \w.=-]{0,160})$/;
const longestHead = 170;

export class BareChannels {
  #state: "start" | "plain" | "held" | "open" = "start";
  /** The first message, until it is known to be one. */
  #first: string[] = [];
  #tail = "";

  /** What of the text can be told, with its tokens. */
  push(text: string): string {
    const seen = this.#tail + text;
    this.#tail = "";
    if (this.#state === "start" && !mayOpen.test(seen)) this.#state = opening.test(seen) ? "held" : "plain";
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
    if (marked === text) return "";
    const first = this.#first.join("").replace(opening, "<|channel|>analysis<|message|>");
    this.#state = "open";
    this.#first = [];
    return first;
  }
}

function withTokens(
  _: string,
  before: string | undefined,
  channel: string,
  behind: string | undefined,
): string {
  const name = before ?? behind;
  const to = name === undefined ? "" : ` to=functions.${name} <|constrain|>json`;
  return `<|end|><|start|>assistant<|channel|>${channel}${to}<|message|>`;
}

/** A whole text, with the tokens of its channels. */
export function withChannelTokens(text: string): string {
  const bare = new BareChannels();
  return bare.push(text) + bare.end();
}
