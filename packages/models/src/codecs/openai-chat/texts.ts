// The room of an answer's texts over Chat Completions: its text and its reasoning, one of each.
//
// Servers leave thinking and calls in the text (F113, F236), which are taken out of it here. They also send a text once more
// at the end, as a delta or in a message (F085): a long exact copy counts once.

import type { Answer } from "../../answer.ts";
import { HarmonySplitter } from "../leaks/harmony.ts";
import { LeakedCalls } from "../leaks/leaked-calls.ts";
import { ThinkSplitter } from "../leaks/think.ts";
import type { NameTable } from "../openai/names.ts";
import type { OpenaiChatCompat } from "./compat.ts";

type Kind = "text" | "reasoning";

/** The shortest text that counts as a copy: a shorter one may well be said twice. */
const shortestCopy = 32;

export class ChatTexts {
  readonly #answer: Answer;
  readonly #think: ThinkSplitter | undefined;
  readonly #harmony: HarmonySplitter | undefined;
  /** Calls found in the text; undefined if they are not looked for. */
  readonly #leaked: LeakedCalls | undefined;
  /** Characters received so far. */
  readonly #said = { text: 0, reasoning: 0 };

  constructor(
    answer: Answer,
    names: NameTable,
    { harmony, thinkTags }: Pick<OpenaiChatCompat, "harmony" | "thinkTags">,
  ) {
    this.#answer = answer;
    const say = (kind: Kind, text: string): void => this.#tell(kind, text);
    if (harmony) {
      this.#leaked = new LeakedCalls(answer, (key, name) => answer.call(key, { name: names.own(name) }));
      this.#harmony = new HarmonySplitter(say, this.#leaked);
    }
    this.#think = harmony || thinkTags === "none" ? undefined : new ThinkSplitter(say, thinkTags);
  }

  say(kind: Kind, text: string): void {
    if (text === "" || this.#isCopy(kind, text)) return;
    const split = kind === "text" ? (this.#harmony ?? this.#think) : undefined;
    if (split === undefined) this.#tell(kind, text);
    else split.push(text);
  }

  /** As `say`, for a series of pieces. */
  more(kind: Kind): (text: string) => void {
    const isPlain = kind === "reasoning" || (this.#harmony === undefined && this.#think?.isPlain !== false);
    if (!isPlain) return (text) => this.say(kind, text);
    const more = this.#answer.moreText(kind, kind);
    return (text) => {
      if (!this.#isCopy(kind, text)) more(text);
    };
  }

  /** The server tells reasoning apart from the text: it has left none in there. */
  areApart(): void {
    this.#think?.plain();
  }

  /** What a text adds that is all of the text so far, or a piece of it: the whole, or what it has grown by. */
  added(text: string | undefined): string | undefined {
    if (text === undefined || text.length < this.#said.text) return text;
    const told = this.#answer.pieces("text").join("");
    const isOther = told.length === this.#said.text && !text.startsWith(told);
    return isOther ? text : text.slice(this.#said.text);
  }

  /** Ends the text: what was held back of it is told. */
  end(): void {
    (this.#harmony ?? this.#think)?.end();
  }

  /** Drops the calls found in the text. */
  dropCalls(): void {
    this.#leaked?.drop();
  }

  #tell(kind: Kind, text: string): void {
    if (kind === "text") this.#answer.text("text", text);
    else this.#answer.reasoning("reasoning", text);
  }

  /** Whether a text is all that was received so far. */
  #isCopy(kind: Kind, text: string): boolean {
    if (text.length === this.#said[kind] && text.length >= shortestCopy) {
      const pieces = this.#answer.pieces(kind);
      if (pieces.length > 1 && pieces.join("") === text) return true;
    }
    this.#said[kind] += text.length;
    return false;
  }
}
