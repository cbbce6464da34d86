// The room of the answer: one builder that every decoder fills.
//
// The rules that hold for every protocol are here. Blocks are found by key, never by position. A call's arguments are
// parsed once, when the answer is whole. A call without whole arguments keeps `argsError` and never runs. The stop kind is
// derived from the provider's word and the content together; the word is kept.

import {
  type AssistantMessage,
  errorWith,
  type Json,
  type ModelEvent,
  type NativePart,
  type Opaque,
  type Origin,
  type Part,
  type RondoError,
  type Stop,
  type Usage,
} from "@rondo/core";
import { setOwn } from "@rondo/core/checks";
import { type BlockKey, BlockList } from "./answer/block-list.ts";
import {
  beginAgain,
  type CallBlock,
  cutFault,
  isSaid,
  openFault,
  stopKind,
  type TextBlock,
  unshown,
} from "./answer/blocks.ts";
import { holds, isNothing } from "./answer/call-args.ts";
import type { IsSpokenOf } from "./answer/end-tokens.ts";
import { type AnswerEnd, cutAtLimit } from "./answer/ends.ts";
import { brokenOff, leftNoRoom, streamTruncated } from "./answer/failures.ts";
import { HeldEnd } from "./answer/held-end.ts";
import { withoutMarkedArgs } from "./answer/marked-args.ts";
import { faultWithoutArgs, toldTwice } from "./answer/misrouted-calls.ts";
import { heldText, mayTellAgain, unheard } from "./answer/told-again.ts";
import type { Target } from "./codec.ts";

export type { BlockKey };

export class Answer {
  readonly #origin: Origin;
  readonly #emit: (event: ModelEvent) => void;
  readonly #blocks = new BlockList();
  /** Set if the server may leave control tokens in an answer. */
  readonly #isSpokenOf: IsSpokenOf | undefined;
  /** Set with it: what may be a token at the end of a text. */
  readonly #held: HeldEnd | undefined;
  /** The call opened last, while nothing of it was emitted yet. */
  #untold: CallBlock | undefined;
  /** The text whose last deltas were not emitted, because they may tell it again. */
  #waiting: TextBlock | undefined;
  readonly #usage: Usage = {};
  /** The highest output token count so far, and whether anything was emitted since the last count. */
  #written = 0;
  #shown = true;

  constructor(
    { origin, isSpokenOf }: Pick<Target, "origin" | "isSpokenOf">,
    emit: (event: ModelEvent) => void,
  ) {
    this.#origin = origin;
    this.#emit = emit;
    this.#isSpokenOf = isSpokenOf;
    this.#held = isSpokenOf && new HeldEnd(isSpokenOf, emit);
  }

  /** The usage counted so far; undefined while there is none. Zeros may be true: calls that the provider's own program makes cost nothing. */
  get usage(): Usage | undefined {
    return Object.keys(this.#usage).length === 0 ? undefined : { ...this.#usage };
  }

  /** Whether nothing at all has arrived. */
  get empty(): boolean {
    return this.#blocks.size === 0;
  }

  /** Whether nothing but reasoning has arrived. */
  get isThought(): boolean {
    return [...this.#blocks.values()].every(({ type }) => type === "reasoning");
  }

  has(key: BlockKey): boolean {
    return this.#blocks.get(key) !== undefined;
  }

  /** The text of a text or reasoning block so far, or a call's arguments. */
  pieces(key: BlockKey): readonly string[] {
    const block = this.#blocks.get(key);
    return block === undefined || block.type === "part" ? [] : block.pieces;
  }

  text(key: BlockKey, text: string): void {
    this.#addText(this.#blocks.text(key, "text"), "text_delta", text);
  }

  reasoning(key: BlockKey, text: string): void {
    this.#addText(this.#blocks.text(key, "reasoning"), "reasoning_delta", text);
  }

  /** As `text` or `reasoning`, for a series of pieces: the block is looked up once, and must stay the one of this key. */
  moreText(key: BlockKey, kind: "text" | "reasoning"): (text: string) => void {
    const block = this.#blocks.text(key, kind);
    const type = kind === "text" ? "text_delta" : "reasoning_delta";
    return (text) => this.#addText(block, type, text);
  }

  /** Whether all that still arrives for a block is of its kind: then the function from `moreText` may be kept. */
  isSettled(_key: BlockKey, _kind: "text" | "reasoning"): boolean {
    return true;
  }

  #addText(block: TextBlock, type: "text_delta" | "reasoning_delta", text: string): void {
    if (text === "") return;
    if (this.#untold !== undefined) this.#tellCall(this.#untold);
    if (this.#waiting !== undefined && this.#waiting !== block) this.#tellWaiting();
    this.#shown = true;
    if (block.shown === undefined && mayTellAgain(block, text)) {
      this.#tellText(block, type, unheard(block, text));
      this.#waiting = block.mayGrow ? block : undefined;
      return;
    }
    block.pieces.push(text);
    block.length += text.length;
    this.#tellText(block, type, block.shown === undefined ? text : unshown(block, block.shown, text));
  }

  #tellText(block: TextBlock, type: "text_delta" | "reasoning_delta", text: string): void {
    const event = { type, index: block.index, text };
    if (text === "") this.#emit({ type: "progress" });
    else if (this.#held?.wants(event)) this.#held.take(block, event);
    else this.#emit(event);
  }

  #tellWaiting(): void {
    const block = this.#waiting;
    this.#waiting = undefined;
    const text = block === undefined ? "" : heldText(block);
    if (block !== undefined && text !== "")
      this.#tellText(block, block.type === "text" ? "text_delta" : "reasoning_delta", text);
  }

  /** For a server that sends a text once more from its beginning: the pieces so far are replaced, and not emitted twice. */
  again(key: BlockKey): void {
    this.#tellWaiting();
    const block = this.#blocks.get(key);
    if (block !== undefined && block.type !== "part" && block.type !== "tool_call") beginAgain(block);
  }

  refusal(key: BlockKey, text: string): void {
    this.#blocks.text(key, "refusal").pieces.push(text);
    this.#tell({ type: "progress" });
  }

  /**
   * The final text, in place of the pieces that came. If it only adds to them, the addition is emitted;
   * nothing is emitted twice. An empty one is ignored, because some gateways leave the text out there.
   */
  textWhole(key: BlockKey, type: TextBlock["type"], text: string): void {
    this.#tellWaiting();
    const block = this.#blocks.text(key, type);
    const shown = block.pieces.join("");
    if (shown === text || text === "") return;
    if (type !== "refusal" && text.startsWith(shown)) {
      const delta = type === "text" ? "text_delta" : "reasoning_delta";
      this.#addText(block, delta, text.slice(shown.length));
      return;
    }
    block.pieces = [text];
    block.length = text.length;
    this.#tell({ type: "progress" });
  }

  /** Opens a call, or adds to it: a blank id or an empty name changes nothing. */
  call(
    key: BlockKey,
    { id, name }: { id?: string | null | undefined; name?: string | null | undefined },
  ): void {
    const block = this.#callBlock(key);
    if (id?.trim()) block.id = id;
    if (name) block.name = name;
  }

  /** A piece of a call's arguments, as text. */
  args(key: BlockKey, delta: string): void {
    this.#addArgs(this.#callBlock(key), delta);
  }

  /** As `args`, for a series of pieces: the block is looked up once, and must stay the one of this key. */
  moreArgs(key: BlockKey): (delta: string) => void {
    const block = this.#callBlock(key);
    return (delta) => this.#addArgs(block, delta);
  }

  #addArgs(block: CallBlock, delta: string): void {
    if (delta === "") return;
    this.#untold = undefined;
    // If more follows a whole value, that was not all of it: all pieces together are parsed at the end.
    block.value = undefined;
    block.pieces.push(delta);
    this.#tell({ type: "tool_args_delta", index: block.index, id: block.id, name: block.name, delta });
  }

  /** The final arguments of a call, replacing the pieces: a value, or JSON text. Empty ones do not replace pieces. */
  argsWhole(key: BlockKey, whole: Json): void {
    const block = this.#callBlock(key);
    if (whole === "") return;
    const shown = block.pieces.length > 0;
    if (shown && typeof whole === "object" && !holds(whole)) return;
    const text = typeof whole === "string" ? whole : JSON.stringify(whole);
    block.pieces = [text];
    // A parsed value would lose digits of a long integer, or hold it in a special form: then the text counts.
    block.value = typeof whole === "string" || /\d{16}/.test(text) ? undefined : whole;
    if (!shown) this.#tellCall(block, text);
  }

  /** Whether a call has arguments so far that are more than blanks. */
  hasArgs(key: BlockKey): boolean {
    return this.#blocks.callAt(key)?.pieces.some((piece) => !isNothing(piece)) === true;
  }

  /** Emits that there is a call, before anything that follows it is emitted: its arguments may never come as text. */
  #tellCall({ index, id, name }: CallBlock, delta: string = ""): void {
    this.#untold = undefined;
    this.#tell({ type: "tool_args_delta", index, id, name, delta });
  }

  /** The protocol said that this call is complete. */
  callEnd(key: BlockKey): void {
    const block = this.#blocks.callAt(key);
    if (block !== undefined) block.whole = true;
  }

  /** Marks a call that the protocol never said to be complete: without arguments it must not run, because they may not have come. */
  callOpen(key: BlockKey): void {
    const block = this.#blocks.callAt(key);
    if (block !== undefined && !block.whole && !this.hasArgs(key)) block.fault ??= openFault;
  }

  /** Marks a call that must not run, with the reason: the provider itself refused or cut its arguments. */
  callFault(key: BlockKey, why: string): void {
    this.#callBlock(key).fault = why;
  }

  /** Marks a call that was cut off at the output limit, though its block is closed. */
  callCut(key: BlockKey): void {
    this.callFault(key, cutFault);
  }

  /** What belongs to a text, reasoning or call block that is already open. `commentary`: the text is not the answer, but was said on the way to it. */
  attach(key: BlockKey, extra: { opaque?: Opaque; citation?: Json; commentary?: boolean }): void {
    const block = this.#blocks.get(key);
    if (block === undefined || block.type === "part") return;
    if (extra.opaque !== undefined) {
      block.opaque ??= {};
      for (const [name, value] of Object.entries(extra.opaque)) setOwn(block.opaque, name, value);
    }
    if (block.type !== "text") return;
    if (extra.commentary !== undefined) block.commentary = extra.commentary;
    if (extra.citation === undefined) return;
    block.citations ??= [];
    block.citations.push(extra.citation);
  }

  opaqueOf(key: BlockKey): Opaque | undefined {
    const block = this.#blocks.get(key);
    return block === undefined || block.type === "part" ? undefined : block.opaque;
  }

  /** A block that only the provider understands: it is kept, and sent back as it is. */
  native(key: BlockKey, kind: string, opaque: Opaque): void {
    const part: NativePart = { type: "native", kind, opaque };
    this.part(key, part);
  }

  /** Any whole part, in its place. A second one with the same key replaces the first. */
  part(key: BlockKey, part: Part): void {
    this.#blocks.put(key, part);
    this.#tell({ type: "progress" });
  }

  /**
   * Settles what gateways mixed up among calls that are blocks of their own (`answer/misrouted-calls.ts`).
   * @param stray arguments arrived that belong to no call
   * @returns whether a call was lost: arguments arrived, but there is no call
   */
  settleCalls(stray: boolean): boolean {
    const calls = this.#blocks.calls();
    for (const key of toldTwice(calls)) this.#blocks.drop(key);
    this.settleArgs(stray);
    return stray && calls.length === 0;
  }

  /** Settles only whose arguments are whose, for protocols that tell repeated calls apart themselves. */
  settleArgs(stray: boolean = false): void {
    faultWithoutArgs(
      this.#blocks.calls().map(([, call]) => call),
      stray,
    );
  }

  /** Drops a block, such as one that turned out to be unfinished. */
  drop(key: BlockKey): void {
    if (this.#untold === this.#blocks.get(key)) this.#untold = undefined;
    this.#blocks.drop(key);
  }

  /** Counts from the provider. The last of each wins; a missing one changes nothing, nor does a zero after another number. */
  count(usage: { [K in keyof Usage]: number | null | undefined }): void {
    for (const name of Object.keys(usage) as (keyof Usage)[]) {
      const value = usage[name];
      if (typeof value === "number" && Number.isFinite(value) && (value > 0 || !this.#usage[name]))
        this.#usage[name] = value;
    }
    this.writes(usage.outputTokens);
  }

  #tell(event: ModelEvent): void {
    this.#shown = true;
    if (this.#waiting !== undefined && event.type !== "progress") this.#tellWaiting();
    if (this.#held?.isOpen) this.#held.before(event);
    this.#emit(event);
  }

  /** How many tokens were written so far. If the count grows and nothing is emitted, the model reasons out of sight: that counts as progress. */
  writes(tokens: number | null | undefined): void {
    if (typeof tokens !== "number") return;
    if (!this.#shown && tokens > this.#written) this.#tell({ type: "progress" });
    this.#shown = false;
    this.#written = Math.max(this.#written, tokens);
  }

  /**
   * The whole answer. Some servers end a truncated answer as if for its calls (F006): broken arguments or its length show it.
   * @param limit the most tokens it could have
   * @throws RondoError `context_overflow` if the window was full before anything was said
   */
  finish(end: AnswerEnd, limit: number = Number.POSITIVE_INFINITY): AssistantMessage {
    const { wire = "unknown", raw, detail } = end;
    this.#tellWaiting();
    const cut = wire === "max_tokens" || wire === "context_overflow";
    const content = this.#withoutTokens(this.#blocks.parts((block) => cut && !block.whole));
    const isBroken = content.some((part) => part.type === "tool_call" && part.argsError !== undefined);
    if (isBroken && stopKind(wire, content) === "tool_use" && (this.#usage.outputTokens ?? 0) >= limit)
      return this.finish({ ...end, ...cutAtLimit });
    if (wire === "context_overflow" && !content.some(isSaid))
      throw this.failed(leftNoRoom(this.#origin, end));
    return this.#message(content, {
      kind: stopKind(wire, content),
      wire,
      ...(raw === undefined ? {} : { raw }),
      ...(detail === undefined ? {} : { detail }),
    });
  }

  /** The parts without what the server's parser left in them. */
  #withoutTokens(parts: Part[]): Part[] {
    const isSpokenOf = this.#isSpokenOf;
    if (this.#held === undefined || isSpokenOf === undefined) return parts;
    return this.#held.close(parts).map((part) => withoutMarkedArgs(part, isSpokenOf));
  }

  /** What had arrived when the answer broke off. It holds no calls, because none can be trusted to be whole. */
  partial(kind: "error" | "aborted" = "error"): AssistantMessage | undefined {
    this.#tellWaiting();
    this.#held?.release();
    const content = this.#blocks.parts(() => false).filter((part) => part.type !== "tool_call");
    return content.length === 0 ? undefined : this.#message(content, { kind, wire: "unknown" });
  }

  #message(content: Part[], stop: Stop): AssistantMessage {
    const { usage } = this;
    const message = { role: "assistant" as const, content, origin: this.#origin, stop };
    return usage === undefined ? message : { ...message, usage };
  }

  /** The error for a stream that ended without its finish signal. */
  truncated(protocol: string): RondoError {
    return this.failed(streamTruncated(this.#origin, protocol));
  }

  /** The error for an answer that its server broke off and says so. */
  brokenOff(word: string): RondoError {
    return this.failed(brokenOff(this.#origin, word));
  }

  /** An error that ended the answer, with `partial` and `usage`. */
  failed(error: RondoError, kind: "error" | "aborted" = "error"): RondoError {
    return errorWith(error, { partial: this.partial(kind), usage: this.usage });
  }

  #callBlock(key: BlockKey): CallBlock {
    const known = this.#blocks.callAt(key);
    if (known !== undefined) return known;
    const block = this.#blocks.openCall(key);
    this.#untold = block;
    return block;
  }
}
