// The room of Anthropic answers: builds the answer from a stream's events, or from a whole message.
//
// Blocks are keyed by their index and filled piece by piece; a call's arguments are joined and parsed once. A block that is
// not text, thinking or a client's call is kept as it came: the provider ran it, or it is newer than this code.

import {
  type AssistantMessage,
  type Json,
  type JsonObject,
  type ModelEvent,
  RondoError,
  type Usage,
} from "@rondo/core";
import { argsIn, holds, isCallType, isEmptyArgs, isNothing } from "../../answer/call-args.ts";
import { answerLimit } from "../../answer/ends.ts";
import type { Answer } from "../../answer.ts";
import type { Target } from "../../codec.ts";
import { countIn, isHollow, listIn, objectIn, textIn, writtenIn } from "../../json-values.ts";
import { bareName } from "../bare-name.ts";
import { BlockPlaces, isNamelessCall } from "../block-places.ts";
import { isFlatError, told } from "../flat-errors.ts";
import { answerOf } from "../leaks/leaking-answer.ts";
import { chatUsage } from "../openai/usage.ts";
import { stopWord } from "../stop-word.ts";
import { containerPart } from "./container.ts";
import { anthropicStreamError } from "./errors.ts";
import { fallbackType } from "./fallback.ts";
import { nameFromWire } from "./names.ts";
import { NativeBlock } from "./native-block.ts";
import { anthropicStop } from "./stops.ts";
import { AnthropicCounts } from "./usage.ts";

/** A block while it arrives. */
interface Open {
  kind: "text" | "thinking" | "call" | "native";
  native?: NativeBlock;
  /** Arguments that came with the start of a client's call. Arguments that follow in deltas are the answer's. */
  startInput?: Json;
  /** How to take a delta of the same type as the last one: most that follow are. */
  more?: { type: string; say(text: string): void };
}

type Emit = (event: ModelEvent) => void;

export class AnthropicAnswer {
  readonly #target: Target;
  readonly #emit: Emit;
  readonly #answer: Answer;
  readonly #blocks = new Map<number, Open>();
  readonly #places = new BlockPlaces();
  #messageId: string | undefined;
  /** Blocks that existed when the message was started a second time (F077). */
  #before: ReadonlySet<number> = new Set();
  #started = false;
  #word: string | undefined;
  #detail: string | undefined;
  /** Arguments arrived for a block that is not a call. */
  #strayArgs = false;
  /** Calls that went on in blocks without a name. */
  readonly #continued = new Set<number>();
  /** The container in which the provider's code runs; in the first event or the last. */
  #container: Json | undefined;
  readonly #counts = new AnthropicCounts();
  /** The whole answer has arrived. */
  finished = false;
  /** What the last event did with its text, if that was all it did: the same can be done with the text of an event like it. */
  protected again: ((text: string) => void) | undefined;

  constructor(target: Target, emit: Emit) {
    this.#target = target;
    this.#emit = emit;
    this.#answer = answerOf(target, emit, nameFromWire);
  }

  get complete(): boolean {
    return this.#word !== undefined;
  }

  event(event: JsonObject, named: string | undefined): void {
    if (this.finished) return;
    this.again = undefined;
    const type = named === "error" ? named : (textIn(event.type) ?? named);
    const given = countIn(event.index) ?? -1;
    const index =
      type === "content_block_start"
        ? this.#places.start(given, objectIn(event.content_block))
        : this.#places.at(given);
    if (type === "error" || (event.error && told(event.error)))
      throw this.#answer.failed(anthropicStreamError(event, this.#target.origin.provider));
    switch (type) {
      case "message_start":
        this.#start(objectIn(event.message) ?? {});
        this.#count(event);
        return;
      // The whole message as one event, from a server that does not stream.
      case "message":
        if (!Array.isArray(event.content)) return;
        this.#start(event);
        this.#ending(event);
        this.finished = true;
        return;
      case "content_block_start":
        if (this.#before.has(given))
          throw this.#joined(`block ${given} of message ${this.#messageId ?? "without id"} began once more`);
        this.#open(index, objectIn(event.content_block) ?? {});
        return;
      case "content_block_delta":
        this.#delta(index, objectIn(event.delta) ?? {});
        return;
      case "content_block_stop":
        this.#close(index);
        this.#places.close(index);
        return;
      case "message_delta":
        // Some gateways put members of the delta next to it, not into it.
        this.#ending({ ...event, ...objectIn(event.delta) });
        this.#count({ ...objectIn(event.delta), ...event });
        return;
      case "message_stop":
        this.#ending(event);
        this.#count(event);
        this.finished = true;
        return;
      default:
        // Pings, and events newer than this code; or an error in another form.
        if ((type === undefined || type.endsWith("error")) && isFlatError(event))
          throw this.#answer.failed(anthropicStreamError(event, this.#target.origin.provider));
    }
  }

  /** A whole message. */
  message(message: JsonObject): AssistantMessage {
    this.#start(message);
    this.#ending(message);
    this.finished = true;
    return this.end();
  }

  end(): AssistantMessage {
    if (this.#word === undefined && !this.finished) throw this.#answer.truncated(this.#target.origin.api);
    const wire = this.#word === undefined ? undefined : anthropicStop(this.#word);
    if (wire === "error") throw this.#answer.brokenOff(this.#word ?? "");
    if (wire === "max_tokens" || wire === "context_overflow") this.#cutLastCall();
    const isStray = this.#strayArgs || [...this.#continued].some((index) => !this.#answer.hasArgs(index));
    const kind = this.#answer.settleCalls(isStray) && wire === "tool_use" ? "malformed_call" : wire;
    const end = {
      ...(kind === undefined ? {} : { wire: kind }),
      ...(this.#word === undefined ? {} : { raw: this.#word }),
      ...(this.#detail === undefined ? {} : { detail: this.#detail }),
    };
    const answer = this.#answer.finish(end, answerLimit(this.#target));
    // A container alone is not an answer.
    const told = answer.content.length === 0 ? undefined : containerPart(this.#container);
    return told === undefined ? answer : { ...answer, content: [...answer.content, told] };
  }

  partial(): AssistantMessage | undefined {
    return this.#answer.partial();
  }

  get usage(): Usage | undefined {
    return this.#answer.usage;
  }

  #start(message: JsonObject): void {
    const id = textIn(message.id);
    // A message without content may be replaced by another: Kimi starts dozens while it waits.
    const hasBegun = this.#started && this.#blocks.size > 0;
    if (hasBegun && id !== this.#messageId)
      throw this.#joined(
        `a second message (${id ?? "without id"}) began inside message ${this.#messageId ?? "without id"}`,
      );
    if (hasBegun) {
      this.#before = new Set(this.#blocks.keys());
      return;
    }
    this.#started = true;
    this.#messageId = id;
    this.#count(message);
    this.#container = message.container;
    this.#tellDropped(message.input_transformations);
    // While the provider's code waits for a client's call, the first event may contain a whole answer.
    const content = [...listIn(message.content), ...listIn(message.tool_calls)];
    for (const [index, block] of content.entries()) {
      this.#open(index, blockOf(block));
      this.#close(index);
    }
    // Only with content: a gateway that wraps a whole answer in events may put its stop reason into the first one.
    if (content.length > 0) this.#ending(message);
  }

  #joined(what: string): RondoError {
    const { provider } = this.#target.origin;
    const words = `${what} in the stream of ${provider}: a proxy joined two answers, and neither can be trusted`;
    return this.#answer.failed(new RondoError("protocol", words, { retryable: true }));
  }

  /** Warns about thinking that was sent, but that the provider left out of the prompt without refusing the request. */
  #tellDropped(transformations: Json | undefined): void {
    const dropped = listIn(transformations).flatMap((one) =>
      objectIn(one)?.type === "thinking_dropped" ? [textIn(objectIn(one)?.reason) ?? "no reason given"] : [],
    );
    if (dropped.length === 0) return;
    const reasons = [...new Set(dropped)].join(", ");
    const message = `${this.#target.origin.provider} left ${dropped.length} blocks of earlier thinking out of the prompt (${reasons})`;
    this.#emit({ type: "warning", code: "thinking_dropped", message });
  }

  #open(index: number, block: JsonObject): void {
    const type = textIn(block.type) ?? (writtenIn(block.text) === undefined ? "unknown" : "text");
    const answer = this.#answer;
    switch (type) {
      case "text":
      case "output_text":
        this.#blocks.set(index, { kind: "text" });
        answer.text(index, writtenIn(block.text) ?? "");
        for (const citation of listIn(block.citations)) answer.attach(index, { citation });
        return;
      case "thinking":
        this.#blocks.set(index, { kind: "thinking" });
        answer.reasoning(index, writtenIn(block.thinking) ?? "");
        if (textIn(block.signature))
          answer.attach(index, { opaque: { signature: block.signature as string } });
        return;
      case "redacted_thinking":
        this.#blocks.set(index, { kind: "thinking" });
        answer.reasoning(index, "");
        answer.attach(index, { opaque: { redacted: textIn(block.data) ?? "" } });
        this.#emit({ type: "progress" });
        return;
      default: {
        if (isCallType(type)) {
          this.#openCall(index, block);
          return;
        }
        if (type === fallbackType) this.#declineCalls();
        const native = new NativeBlock(block);
        this.#blocks.set(index, { kind: "native", native });
        answer.native(index, type, native.value);
      }
    }
  }

  #openCall(index: number, given: JsonObject): void {
    // In the form of Chat Completions its name and arguments are in a function.
    const block: JsonObject = { ...objectIn(given.function), ...given };
    const input = argsIn(block, "input");
    const text = textIn(input);
    if (isNamelessCall(block) && this.#blocks.has(index)) this.#continued.add(index);
    this.#blocks.set(index, {
      kind: "call",
      ...(text === undefined && holds(input) ? { startInput: input } : {}),
    });
    const name = nameFromWire(bareName(textIn(block.name) ?? ""));
    this.#answer.call(index, { id: textIn(block.id), name });
    const opaque: JsonObject = {};
    for (const member of ["caller", "toolset_name"])
      if (block[member] !== undefined && block[member] !== null) opaque[member] = block[member];
    if (Object.keys(opaque).length > 0) this.#answer.attach(index, { opaque });
    if (text !== undefined) this.#answer.args(index, text);
  }

  /** Another model continues from here: the first one's calls must not run. */
  #declineCalls(): void {
    for (const [index, { kind }] of this.#blocks) {
      if (kind !== "call") continue;
      this.#blocks.delete(index);
      this.#answer.drop(index);
    }
  }

  #delta(index: number, delta: JsonObject): void {
    const type = textIn(delta.type) ?? deltaType(delta);
    const open = this.#blocks.get(index) ?? this.#lazily(index, type);
    if (type === "input_json_delta" && open?.kind !== "call" && open?.kind !== "native")
      this.#strayArgs ||= !isNothing(delta.partial_json);
    if (open === undefined) return;
    if (open.native !== undefined) {
      open.native.more(delta);
      this.#emit({ type: "progress" });
      return;
    }
    switch (type) {
      case "text_delta":
        this.#saying(this.#more(index, open, type), delta.text);
        return;
      case "thinking_delta":
        this.#saying(this.#more(index, open, type), delta.thinking);
        // Some gateways put the signature into the same delta.
        if (textIn(delta.signature)) this.#sign(index, delta.signature);
        return;
      case "signature_delta":
        this.#sign(index, delta.signature);
        return;
      case "citations_delta":
        if (delta.citation !== undefined) this.#answer.attach(index, { citation: delta.citation });
        return;
      default: {
        // Arguments count under any type of delta and any name.
        const told = open.kind === "call" ? argsIn(delta, "partial_json") : undefined;
        if (told !== undefined) this.#args(index, open, told);
        else if (type !== "input_json_delta") this.#emit({ type: "progress" });
        return;
      }
    }
  }

  #args(index: number, open: Open, told: Json | undefined): void {
    // Some gateways send the value instead of its JSON text (F087). Ignored, the call would run with empty arguments.
    const whole = objectIn(told);
    if (whole !== undefined) {
      this.#answer.argsWhole(index, whole);
      return;
    }
    this.#saying(this.#more(index, open, "input_json_delta"), told);
  }

  /** How deltas of this type are taken; kept as long as the block's deltas stay of that type. */
  #more(
    index: number,
    open: Open,
    type: "text_delta" | "thinking_delta" | "input_json_delta",
  ): (text: string) => void {
    if (open.more?.type === type) return open.more.say;
    if (type === "input_json_delta") return this.#keep(open, type, this.#answer.moreArgs(index));
    const kind = type === "text_delta" ? "text" : "reasoning";
    const say = this.#answer.moreText(index, kind);
    return this.#answer.isSettled(index, kind) ? this.#keep(open, type, say) : say;
  }

  #keep(open: Open, type: string, say: (text: string) => void): (text: string) => void {
    open.more = { type, say };
    return say;
  }

  #sign(index: number, piece: Json | undefined): void {
    this.again = undefined;
    const before = textIn(this.#answer.opaqueOf(index)?.signature) ?? "";
    this.#answer.attach(index, { opaque: { signature: before + (textIn(piece) ?? "") } });
  }

  /** Takes a delta's text, and remembers how, for the next event if it is like this one. */
  #saying(say: (text: string) => void, text: Json | undefined): void {
    this.again = say;
    say(writtenIn(text) ?? "");
  }

  /** Opens the block of a delta whose start event a proxy lost. Not for calls: their name is missing. */
  #lazily(index: number, type: string | undefined): Open | undefined {
    if (type === "text_delta") this.#open(index, { type: "text", text: "" });
    else if (type === "thinking_delta") this.#open(index, { type: "thinking", thinking: "" });
    return this.#blocks.get(index);
  }

  #close(index: number): void {
    const open = this.#blocks.get(index);
    open?.native?.close();
    if (open?.kind !== "call") return;
    // Some servers send the arguments with the block's start, and no deltas, or only an empty object.
    if (open.startInput !== undefined && isEmptyArgs(this.#answer.pieces(index).join("")))
      this.#answer.argsWhole(index, open.startInput);
    this.#answer.callEnd(index);
  }

  /** At the output limit a truncated last call is closed like a whole one. Without any arguments it would be read as `{}`. */
  #cutLastCall(): void {
    const [index, last] = [...this.#blocks].at(-1) ?? [];
    if (index === undefined || last?.kind !== "call" || last.startInput !== undefined) return;
    if (!this.#answer.hasArgs(index)) this.#answer.callCut(index);
  }

  #ending(delta: JsonObject): void {
    this.#container = delta.container ?? this.#container;
    this.#word = stopWord(delta.stop_reason ?? delta.stopReason ?? delta.finish_reason) ?? this.#word;
    const details = objectIn(delta.stop_details);
    const said = [textIn(details?.category), textIn(details?.explanation)].filter(Boolean).join(": ");
    const sequence = textIn(delta.stop_sequence);
    if (said !== "") this.#detail = said;
    else if (sequence) this.#detail = sequence;
  }

  #count({ usage: told }: JsonObject): void {
    const usage = objectIn(told);
    if (usage === undefined) return;
    // Gateways that speak Chat Completions to the server behind them may leave its names.
    const isChat = (usage.input_tokens ?? usage.output_tokens) === undefined;
    this.#answer.count(isChat ? chatUsage(usage) : this.#counts.take(usage));
  }
}

/** A block; some servers send its text alone. */
const blockOf = (given: Json): JsonObject =>
  objectIn(given) ?? { type: "text", text: writtenIn(given) ?? "" };

/** The type of a delta that lacks one, from the first of its members that says something. */
const deltaType = (delta: JsonObject): string | undefined =>
  deltaMembers.find(([member]) => !isHollow(delta[member]))?.[1];

const deltaMembers: readonly (readonly [member: string, type: string])[] = [
  ["text", "text_delta"],
  ["thinking", "thinking_delta"],
  ["partial_json", "input_json_delta"],
  ["signature", "signature_delta"],
];
