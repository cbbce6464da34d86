// The room of answers whose texts are parsed: thinking and channels that the server's own parser left in them (F113, F236).
//
// Local servers and gateways also speak protocols with thinking blocks, for models of any vendor. Only the text that opens
// an answer is parsed; a tag after anything else is ordinary text, but for a closing tag that was left behind reasoning.

import type { ModelEvent } from "@rondo/core";
import { Answer, type BlockKey } from "../../answer.ts";
import type { Target } from "../../codec.ts";
import { speaksHarmony } from "../../prompted/harmony.ts";
import { oneOf } from "../openai-chat/compat.ts";
import { type HarmonyCalls, HarmonySplitter, type Say } from "./harmony.ts";
import { LeakedCalls } from "./leaked-calls.ts";
import { ThinkSplitter, type ThinkTags } from "./think.ts";

/**
 * Builds an answer for a target. Its first text is parsed if the server may leave something in it: by the quirk
 * `thinkTags`, and by the model's name.
 * @param ownName a tool's name from its wire name
 */
export function answerOf(
  target: Target,
  emit: (event: ModelEvent) => void,
  ownName: (name: string) => string,
): Answer {
  const { origin, compat } = target;
  const speaks = speaksHarmony(origin.model);
  const tags = thinkTagsIn(compat);
  return speaks || tags !== "none"
    ? new LeakingAnswer(target, emit, speaks ? ownName : undefined)
    : new Answer(target, emit);
}

const thinkTagsIn = (compat: Target["compat"]): "none" | ThinkTags =>
  oneOf(compat?.thinkTags, ["none", "leading", "starts_inside", "nova"]);

type Splitter = ThinkSplitter | HarmonySplitter;

class LeakingAnswer extends Answer {
  /** Set if channels are looked for. */
  readonly #ownName: ((name: string) => string) | undefined;
  readonly #thinkTags: ThinkTags;
  /** The text that is parsed; null if there is none. */
  #key: BlockKey | null | undefined;
  #splitter: Splitter | undefined;
  /** Reasoning came apart before the text. */
  #isApart = false;
  readonly #leaked: LeakedCalls;
  #hasCalls = false;

  constructor(
    target: Target,
    emit: (event: ModelEvent) => void,
    ownName: ((name: string) => string) | undefined,
  ) {
    super(target, emit);
    this.#ownName = ownName;
    const tags = thinkTagsIn(target.compat);
    this.#thinkTags = tags === "none" ? "leading" : tags;
    this.#leaked = new LeakedCalls(this, (key, name) => super.call(key, { name: ownName?.(name) ?? name }));
  }

  override text(key: BlockKey, text: string): void {
    if (this.isSettled(key, "text")) super.text(key, text);
    else if (text !== "") this.#reading().push(text);
  }

  override moreText(key: BlockKey, kind: "text" | "reasoning"): (text: string) => void {
    return this.isSettled(key, kind) ? super.moreText(key, kind) : (text) => this.text(key, text);
  }

  override isSettled(key: BlockKey, kind: "text" | "reasoning"): boolean {
    return kind !== "text" || !this.#isRead(key) || this.#isPlain;
  }

  override textWhole(key: BlockKey, type: "text" | "reasoning" | "refusal", text: string): void {
    if (type !== "text" || !this.#isRead(key)) super.textWhole(key, type, text);
    else if (this.#splitter === undefined) this.text(key, text);
    else if (text !== "") {
      const told = { text: "", reasoning: "" };
      const whole = this.#newSplitter((kind, piece) => {
        told[kind] += piece;
      }, noCalls);
      whole.push(text);
      whole.end();
      // What was held back of its deltas is in the whole text.
      this.#splitter.end();
      if (told.reasoning !== "") super.textWhole(this.#thoughts, "reasoning", told.reasoning);
      if (told.text !== "") super.textWhole(key, type, told.text);
    }
  }

  override again(key: BlockKey): void {
    super.again(key);
    if (key !== this.#key) return;
    super.again(this.#thoughts);
    // Its calls come once more as well.
    this.#leaked.drop();
    this.#splitter = undefined;
  }

  override call(...given: Parameters<Answer["call"]>): void {
    // What was held back comes before it.
    this.#splitter?.end();
    this.#hasCalls = true;
    super.call(...given);
  }

  override settleCalls(stray: boolean): boolean {
    this.#end();
    return super.settleCalls(stray);
  }

  override finish(...given: Parameters<Answer["finish"]>): ReturnType<Answer["finish"]> {
    this.#end();
    return super.finish(...given);
  }

  /** Ends the answer. If there are calls of the protocol as well as calls in the text, only the former count. */
  #end(): void {
    if (this.#splitter !== undefined && !this.#isPlain) this.#splitter.end();
    this.#key = null;
    if (this.#hasCalls) this.#leaked.drop();
  }

  /** Channels are looked for in the first text, whatever comes before it. */
  #isRead(key: BlockKey): boolean {
    if (this.#key === undefined) {
      this.#key = this.isThought || this.#ownName !== undefined ? key : null;
      this.#isApart = !this.empty;
    }
    return key === this.#key;
  }

  /** Whether the rest of the text cannot contain anything else. */
  get #isPlain(): boolean {
    return this.#splitter instanceof ThinkSplitter && this.#splitter.isPlain;
  }

  get #thoughts(): BlockKey {
    return `${this.#key} thoughts`;
  }

  #reading(): Splitter {
    const say: Say = (kind, text) => {
      if (kind === "reasoning") super.reasoning(this.#thoughts, text);
      else super.text(this.#key ?? 0, text);
    };
    this.#splitter ??= this.#newSplitter(say, this.#leaked);
    return this.#splitter;
  }

  #newSplitter(say: Say, calls: HarmonyCalls): Splitter {
    if (this.#ownName !== undefined) return new HarmonySplitter(say, calls);
    const splitter = new ThinkSplitter(say, this.#thinkTags);
    if (this.#isApart) splitter.plain();
    return splitter;
  }
}

/** For a text whose calls were already emitted while it streamed. */
const noCalls: HarmonyCalls = { open() {}, args() {}, close() {} };
