// The room of the held end: the end of a text as it comes, held back while it may be a token that ends the turn, or a mark of calls.
//
// It is told with the next thing that shows that it was none, and not at all where it was one.

import type { ModelEvent, Part } from "@rondo/core";
import type { TextBlock } from "./blocks.ts";
import { endOf, type IsSpokenOf, mayBegin, mayEndAt, withoutEndTokens } from "./end-tokens.ts";

type TextDelta = Extract<ModelEvent, { type: "text_delta" | "reasoning_delta" }>;

export class HeldEnd {
  readonly #isSpokenOf: IsSpokenOf;
  readonly #emit: (event: ModelEvent) => void;
  #block: TextBlock | undefined;
  #text = "";
  /** A call came, beside which what is held is no word. */
  #isMark = false;

  constructor(isSpokenOf: IsSpokenOf, emit: (event: ModelEvent) => void) {
    this.#isSpokenOf = isSpokenOf;
    this.#emit = emit;
  }

  /** Whether something is held back. */
  get isOpen(): boolean {
    return this.#block !== undefined;
  }

  /** Whether a delta is to be given to `take`; otherwise it is told as it is. */
  wants({ type, text }: TextDelta): boolean {
    return this.#block !== undefined || (type === "text_delta" && mayBegin(text));
  }

  /** Tells a delta of a block, but for what may be the end of a text. */
  take(block: TextBlock, event: TextDelta): void {
    if (event.type !== "text_delta") {
      this.before(event);
      this.#emit(event);
      return;
    }
    if (block !== this.#block) this.#tell();
    this.#isMark = false;
    const text = this.#text + event.text;
    const at = mayEndAt(text);
    this.#text = text.slice(at);
    this.#block = at === text.length ? undefined : block;
    // What is held back is work all the same.
    if (at === 0) this.#emit({ type: "progress" });
    else this.#emit({ type: "text_delta", index: block.index, text: text.slice(0, at) });
  }

  /** Something else than text is about to be told. */
  before({ type }: ModelEvent): void {
    if (type === "progress" || this.#block === undefined || this.#isMark) return;
    if (type === "tool_args_delta") {
      const end = endOf(this.#block.pieces.join(""), this.#isSpokenOf, true);
      this.#isMark = end?.endsWith(this.#text) === true;
      if (this.#isMark) return;
    }
    this.#tell();
  }

  /** The parts of the whole answer, without what is no word of them; of what is held the rest is told. */
  close(parts: readonly Part[]): Part[] {
    const { parts: kept, ends } = withoutEndTokens(parts, this.#isSpokenOf);
    const held = this.#text;
    if (ends.some((end) => end.endsWith(held))) this.#forget();
    else this.#text = held.slice(0, held.length - (ends.find((end) => held.endsWith(end))?.length ?? 0));
    this.release();
    return kept;
  }

  /** Tells what is held: the answer broke off, and keeps it too. */
  release(): void {
    this.#isMark = false;
    this.#tell();
  }

  /** It was no end, unless it was a mark. */
  #tell(): void {
    const text = this.#text;
    const block = this.#block;
    const isTold = block !== undefined && !this.#isMark;
    this.#forget();
    if (isTold) this.#emit({ type: "text_delta", index: block.index, text });
  }

  #forget(): void {
    this.#block = undefined;
    this.#text = "";
    this.#isMark = false;
  }
}
