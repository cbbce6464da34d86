// The room of a token that ends a turn, where a server leaves it at the end of an answer's text: it is no word of the answer (F236).
//
// Models write about such tokens too, so it is looked for at the very end alone, right behind a word or on a line of its own, and
// stays where somebody in the conversation wrote of it. What may be one is held back until more comes; the rest is told at once.

import { type AssistantMessage, type Model, type ModelEvent, type ModelIo, modelFace } from "@rondo/core";
import { literal } from "../patterns.ts";
import { isSpokenOf } from "./said-before.ts";

const tokens: readonly string[] = [
  "<|im_end|>",
  "<|endoftext|>",
  "<|eot_id|>",
  "<|eom_id|>",
  "<|eot|>",
  "<|end|>",
  "<|return|>",
  "<|end_of_text|>",
  "<|end_of_turn|>",
  "<|END_OF_TURN_TOKEN|>",
  "<|role_end|>",
  "<|user|>",
  "<|observation|>",
  "<｜end▁of▁sentence｜>",
  "<end_of_turn>",
  "<end_of_utterance>",
  "<turn|>",
  "<eos>",
  "<seed:eos>",
  "<SPECIAL_12>",
  "</s>",
  "[|endofturn|]",
  "[e~[",
];
const some: string = `(?:(?:${tokens.map(literal).join("|")})\\s{0,4})`;
const atEnd = new RegExp(`${some}{1,4}$`);
const first = new RegExp(`^${some}{0,4}`);
/** What is spoken of stands behind a blank, a colon or a quote. */
const spoken: RegExp = /[^\S\n]$|[:=('"`“«[]\s*$/;
/** No run of them is longer. */
const longest = 120;

/** The model, whose answers do not end in a token of its template. */
export function withoutEndToken(model: Model): Model {
  return {
    ...modelFace(model),
    async call(request, io): Promise<AssistantMessage> {
      const held = new HeldEnd(io);
      let answer: AssistantMessage;
      try {
        answer = await model.call(request, { ...io, emit: (event) => held.emit(event) });
      } catch (thrown) {
        held.tell();
        throw thrown;
      }
      const last = answer.content.at(-1);
      // What is signed stays as it is.
      const isOpen = last?.type === "text" && last.opaque?.thoughtSignature === undefined;
      const end = isOpen ? endOf(last.text) : undefined;
      if (!isOpen || end === undefined || isSpokenOf(end.token, request)) {
        held.tell();
        return answer;
      }
      const text = last.text.slice(0, end.at);
      const content = answer.content.slice(0, -1);
      return { ...answer, content: text.trim() === "" ? content : [...content, { ...last, text }] };
    },
  };
}

/** Where the tokens at a text's end begin, and the first of them. */
function endOf(text: string): { at: number; token: string } | undefined {
  const tail = text.slice(-longest);
  const found = atEnd.exec(tail);
  if (found === null || spoken.test(tail.slice(0, found.index))) return undefined;
  const token = tokens.find((one) => found[0].startsWith(one)) ?? "";
  return { at: text.length - tail.length + found.index, token };
}

/** Where what may be a token at the end of the answer begins; the text's length where nothing may be one. */
function mayEndAt(text: string): number {
  const from = Math.max(0, text.length - longest);
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char !== "<" && char !== "[") continue;
    const rest = text.slice(at).replace(first, "");
    if (rest === "" || tokens.some((token) => token.startsWith(rest))) return at;
  }
  return text.length;
}

/** Events as they come, but for the end of a text. */
class HeldEnd {
  readonly #io: ModelIo;
  #text = "";
  #index = 0;

  constructor(io: ModelIo) {
    this.#io = io;
  }

  emit(event: ModelEvent): void {
    if (event.type !== "text_delta") {
      if (event.type !== "progress" && event.type !== "warning") this.tell();
      this.#io.emit(event);
      return;
    }
    if (event.index !== this.#index) this.tell();
    this.#index = event.index;
    const text = this.#text + event.text;
    const at = mayEndAt(text);
    this.#text = text.slice(at);
    // What is held back is work all the same.
    this.#io.emit(at === 0 ? { type: "progress" } : { ...event, text: text.slice(0, at) });
  }

  /** It was no end. */
  tell(): void {
    const text = this.#text;
    this.#text = "";
    if (text !== "") this.#io.emit({ type: "text_delta", index: this.#index, text });
  }
}
