// The room of the held end: while a text streams, its end is held back as long as it may be a control token
// (`end-tokens.ts`).
//
// It is emitted once something follows that shows it is ordinary text, and dropped if it was a token.

import type { ModelEvent, Part } from "@rondo/core";
import type { TextBlock } from "./blocks.ts";
import { endOf, type IsSpokenOf, mayBegin, mayEndAt, withoutEndTokens } from "./end-tokens.ts";

type TextDelta = Extract<ModelEvent, { type: "text_delta" | "reasoning_delta" }>;

export class HeldEnd {
  readonly #isSpokenOf: IsSpokenOf;
  readonly #emit: (event: ModelEvent) => void;
  #block: TextBlock | undefined;
  #text = "";
  /** A call arrived, which makes the held text a call token. */
  #isMark = false;

  constructor(isSpokenOf: IsSpokenOf, emit: (event: ModelEvent) => void) {
    this.#isSpokenOf = isSpokenOf;
    this.#emit = emit;
  }

  /** Whether something is held back. */
  get isOpen(): boolean {
    return this.#block !== undefined;
  }

  /** Whether a delta must go through `take`; otherwise it can be emitted directly. */
  wants({ type, text }: TextDelta): boolean {
    return this.#block !== undefined || (type === "text_delta" && mayBegin(text));
  }

  /** Emits a delta, except for what may be a token at the end of the text. */
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
    // Held text is a sign of life all the same.
    if (at === 0) this.#emit({ type: "progress" });
    else this.#emit({ type: "text_delta", index: block.index, text: text.slice(0, at) });
  }

  /** Something other than text is about to be emitted. */
  before({ type }: ModelEvent): void {
    if (type === "progress" || this.#block === undefined || this.#isMark) return;
    if (type === "tool_args_delta") {
      const end = endOf(this.#block.pieces.join(""), this.#isSpokenOf, true);
      this.#isMark = end?.endsWith(this.#text) === true;
      if (this.#isMark) return;
    }
    this.#tell();
  }

  /** The parts of the whole answer without control tokens at the ends of texts. What was held and is not a token is emitted. */
  close(parts: readonly Part[]): Part[] {
    const { parts: kept, ends } = withoutEndTokens(parts, this.#isSpokenOf);
    const held = this.#text;
    if (ends.some((end) => end.endsWith(held))) this.#forget();
    else this.#text = held.slice(0, held.length - (ends.find((end) => held.endsWith(end))?.length ?? 0));
    this.release();
    return kept;
  }

  /** The answer broke off: emits what is held, because the answer keeps it. */
  release(): void {
    this.#isMark = false;
    this.#tell();
  }

  /** Emits what is held, unless it is a call token. */
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
