// The room of Converse answers: a stream's frames, or a whole response, as one answer.
//
// Blocks are opened when first mentioned, because their starts may be empty or missing; usage and stop come in either
// order. Only `messageStop` says that an answer is whole.

import {
  type AssistantMessage,
  type Json,
  type JsonObject,
  type ModelEvent,
  parsedJson,
  RondoError,
  type Usage,
} from "@rondo/core";
import { ownMember, setOwn } from "@rondo/core/checks";
import { argsIn, isEmptyArgs } from "../../answer/call-args.ts";
import { type AnswerEnd, answerLimit } from "../../answer/ends.ts";
import type { Answer } from "../../answer.ts";
import type { Decoder, Frame, Target } from "../../codec.ts";
import { countIn, listIn, objectIn, solid, textIn, writtenIn } from "../../json-values.ts";
import { frameIn, isPieces } from "../anthropic/decode.ts";
import { nameFromWire } from "../anthropic/names.ts";
import { isErrorEvent } from "../bare-frames.ts";
import { bareName } from "../bare-name.ts";
import { Base64Pieces } from "../base64-pieces.ts";
import { BlockPlaces } from "../block-places.ts";
import { unwrapped } from "../envelopes.ts";
import { isFlatError } from "../flat-errors.ts";
import { answerOf } from "../leaks/leaking-answer.ts";
import { typeOfFile } from "../media-types.ts";
import { noAnswer } from "../no-answer.ts";
import { stopWord } from "../stop-word.ts";
import { bedrockStreamError } from "./errors.ts";
import { bedrockStop } from "./stops.ts";

type Emit = (event: ModelEvent) => void;

const eventTypes = [
  "messageStart",
  "contentBlockStart",
  "contentBlockDelta",
  "contentBlockStop",
  "messageStop",
  "metadata",
] as const;

/** A block that is kept as it comes, while it arrives. */
interface Native {
  block: JsonObject;
  /** The text of its input so far. */
  input: string;
  /** Its bytes so far. */
  bytes: Base64Pieces;
}

/** Adds a delta to a block: texts and bytes come in pieces, anything else is its newest value. */
function merge(into: JsonObject, delta: JsonObject, bytes: Base64Pieces): void {
  for (const [name, value] of Object.entries(delta)) {
    const before = ownMember(into, name);
    const inner = objectIn(value);
    if (inner !== undefined) {
      const whole = { ...objectIn(before) };
      merge(whole, inner, bytes);
      setOwn(into, name, whole);
    } else if (name === "bytes" && typeof value === "string") setOwn(into, name, bytes.add(value));
    else if (name === "text" && typeof value === "string") setOwn(into, name, (textIn(before) ?? "") + value);
    else setOwn(into, name, value);
  }
}

class BedrockAnswer implements Decoder {
  readonly #emit: Emit;
  readonly #answer: Answer;
  readonly #target: Target;
  /** Blocks that are kept as they come: a tool that the service ran, its result, a kind newer than this code. */
  readonly #natives = new Map<number, Native>();
  /** Encrypted reasoning, as far as it has arrived. */
  readonly #redacted = new Map<number, Base64Pieces>();
  readonly #places = new BlockPlaces();
  /** The arguments of each call so far; and those that came with its start. */
  readonly #calls = new Map<number, string>();
  readonly #inputs = new Map<number, JsonObject>();
  /** Arguments arrived for a block that is not a call. */
  #strayArgs = false;
  #last = -1;
  #word: string | undefined;
  #detail: string | undefined;
  /** A guardrail's report, even if it did not intervene. */
  #guarded: string | undefined;
  #hasUsage = false;

  constructor(target: Target, emit: Emit) {
    this.#target = target;
    this.#emit = emit;
    this.#answer = answerOf(target, emit, nameFromWire);
  }

  get complete(): boolean {
    return this.#word !== undefined;
  }

  get finished(): boolean {
    return this.#word !== undefined && this.#hasUsage;
  }

  push(frame: Frame): void {
    if (frame.exception === true || frame.event?.endsWith("Exception") === true) throw this.#failed(frame);
    const payload = frameIn(frame, this.#target.origin.provider);
    if (payload === undefined) return;
    if (isPieces(payload)) {
      const event = payload.length === 1 ? frame.event : undefined;
      for (const data of payload) this.push({ event, data });
      return;
    }
    // A gateway's own events have no type, or the type of an error.
    const isTyped = frame.event !== undefined && !isErrorEvent(frame.event);
    if (!isTyped && isFlatError(payload)) throw this.#failed({ event: undefined, data: frame.data });
    const wrapped = eventTypes.find((type) => objectIn(payload[type]) !== undefined);
    if (wrapped !== undefined && frame.event !== wrapped)
      this.#event(wrapped, objectIn(payload[wrapped]) ?? {});
    else if (frame.event !== undefined) this.#event(frame.event, payload);
  }

  #failed(frame: Frame): RondoError {
    return this.#answer.failed(bedrockStreamError(frame, this.#target));
  }

  #event(type: string, payload: JsonObject): void {
    const given = countIn(payload.contentBlockIndex) ?? 0;
    const index =
      type === "contentBlockStart"
        ? this.#places.start(given, { id: objectIn(objectIn(payload.start)?.toolUse)?.toolUseId ?? "" })
        : this.#places.at(given);
    switch (type) {
      case "messageStart":
        if (this.#last !== -1) throw this.#joined();
        return;
      case "contentBlockStart":
        this.#start(index, solid(objectIn(payload.start) ?? {}));
        return;
      case "contentBlockDelta":
        this.#delta(index, solid(objectIn(payload.delta) ?? {}));
        return;
      case "contentBlockStop":
        this.#stop(index);
        this.#places.close(index);
        return;
      case "messageStop":
        this.#ending(payload);
        // Some gateways have no event for it.
        this.#metadata(payload);
        return;
      case "metadata":
        this.#metadata(payload);
        return;
    }
  }

  /** The error of an answer that begins a second time: it is unknown which of the two is continued (F077). */
  #joined(): RondoError {
    const words = `a second message began inside the first in the stream of ${this.#target.origin.provider}: a gateway joined two answers, and neither can be trusted`;
    return this.#answer.failed(new RondoError("protocol", words, { retryable: true }));
  }

  whole(body: JsonObject): AssistantMessage {
    const content = objectIn(objectIn(body.output)?.message)?.content ?? [];
    // Some gateways send one block, or its text, instead of a list.
    for (const [index, block] of [content].flat().flatMap(blocksIn).entries()) this.#block(index, block);
    this.#ending(body);
    this.#metadata(body);
    // A whole body cannot be truncated: if a gateway left out the stop reason, it still ended.
    if (this.#word !== undefined) return this.end();
    this.#pictures();
    return this.#answer.finish({ wire: "end_turn", detail: "finish_missing" }, answerLimit(this.#target));
  }

  end(): AssistantMessage {
    if (this.#word === undefined) throw this.#answer.truncated(this.#target.origin.api);
    const wire = bedrockStop(this.#word);
    if (wire === "error") throw this.#answer.brokenOff(this.#word);
    // Some gateways send the arguments only with the block's start.
    for (const [index, input] of this.#inputs)
      if (isEmptyArgs(this.#calls.get(index) ?? "")) this.#answer.argsWhole(index, input);
    // A truncated call is closed like a whole one: without any arguments it would be read as `{}`.
    const isBare = this.#calls.get(this.#last)?.trim() === "" && !this.#inputs.has(this.#last);
    if ((wire === "max_tokens" || wire === "context_overflow") && isBare) this.#answer.callCut(this.#last);
    this.#pictures();
    const lost = this.#answer.settleCalls(this.#strayArgs) && wire === "tool_use";
    const detail = wire === "content_filter" ? (this.#guarded ?? this.#detail) : this.#detail;
    const end: AnswerEnd = {
      wire: lost ? "malformed_call" : wire,
      raw: this.#word,
      ...(detail === undefined ? {} : { detail }),
    };
    return this.#answer.finish(end, answerLimit(this.#target));
  }

  partial(): AssistantMessage | undefined {
    return this.#answer.partial();
  }

  get usage(): Usage | undefined {
    return this.#answer.usage;
  }

  #start(index: number, start: JsonObject): void {
    this.#last = index;
    const use = objectIn(start.toolUse);
    // An empty start is that of a text or reasoning block: its first delta will show which.
    if (use !== undefined && textIn(use.type) !== "server_tool_use") {
      this.#calls.set(index, this.#calls.get(index) ?? "");
      const input = objectIn(argsIn(use, "input"));
      if (input !== undefined && Object.keys(input).length > 0) this.#inputs.set(index, input);
      this.#answer.call(index, {
        id: textIn(use.toolUseId),
        name: nameFromWire(bareName(textIn(use.name) ?? "")),
      });
      return;
    }
    const [kind] = Object.keys(start);
    if (kind !== undefined) this.#native(index, kind, { [kind]: objectIn(start[kind]) ?? {} });
  }

  #native(index: number, kind: string, given: JsonObject): void {
    const block: JsonObject = {};
    const bytes = new Base64Pieces();
    merge(block, given, bytes);
    this.#natives.set(index, { block, input: "", bytes });
    this.#answer.native(index, textIn(objectIn(block[kind])?.type) ?? kind, block);
  }

  #delta(index: number, delta: JsonObject): void {
    this.#last = index;
    const native = this.#natives.get(index);
    if (native !== undefined) {
      this.#nativeDelta(native, delta);
      return;
    }
    const text = writtenIn(delta.text);
    if (text !== undefined) this.#answer.text(index, text);
    const use = objectIn(delta.toolUse);
    const isCall = this.#calls.has(index);
    if (use !== undefined && !isCall) this.#strayArgs ||= use.input !== undefined && use.input !== "";
    if (use !== undefined && isCall) {
      // Some gateways send the value instead of its JSON text (F087). Ignored, the call would run with empty arguments.
      const whole = objectIn(use.input);
      const piece = whole === undefined ? (writtenIn(use.input) ?? "") : JSON.stringify(whole);
      this.#calls.set(index, (this.#calls.get(index) ?? "") + piece);
      if (whole === undefined) this.#answer.args(index, piece);
      else this.#answer.argsWhole(index, whole);
    }
    const reasoning = objectIn(delta.reasoningContent);
    // Gateways write it as in a whole response.
    if (reasoning !== undefined)
      this.#reasoning(index, { ...objectIn(reasoning.reasoningText), ...reasoning });
    if (delta.citation !== undefined) {
      this.#answer.text(index, "");
      this.#answer.attach(index, { citation: delta.citation });
    }
    const known = ["text", "toolUse", "reasoningContent", "citation"];
    const [kind] = Object.keys(delta).filter((name) => !known.includes(name));
    if (kind !== undefined && !this.#answer.has(index))
      this.#native(index, kind, { [kind]: delta[kind] ?? null });
    else if (kind !== undefined) this.#emit({ type: "progress" });
  }

  #reasoning(index: number, reasoning: JsonObject): void {
    this.#answer.reasoning(index, writtenIn(reasoning.text) ?? "");
    const before = this.#answer.opaqueOf(index);
    const signature = textIn(reasoning.signature);
    if (signature)
      this.#answer.attach(index, {
        opaque: { signature: (textIn(before?.signature) ?? "") + signature },
      });
    const redacted = textIn(reasoning.redactedContent);
    if (redacted === undefined) return;
    const pieces = this.#redacted.get(index) ?? new Base64Pieces();
    this.#redacted.set(index, pieces);
    this.#answer.attach(index, { opaque: { redacted: pieces.add(redacted) } });
    this.#emit({ type: "progress" });
  }

  #nativeDelta(native: Native, delta: JsonObject): void {
    for (const [kind, told] of Object.entries(delta)) {
      const inner = objectIn(native.block[kind]) ?? {};
      native.block[kind] = inner;
      const input = textIn(objectIn(told)?.input);
      if (Array.isArray(told)) {
        const content = listIn(inner.content);
        for (const one of told) content.push(one);
        inner.content = content;
      } else if (input !== undefined) native.input += input;
      else merge(inner, objectIn(told) ?? {}, native.bytes);
    }
    this.#emit({ type: "progress" });
  }

  #stop(index: number): void {
    this.#answer.callEnd(index);
    const native = this.#natives.get(index);
    const use = objectIn(native?.block.toolUse);
    if (native === undefined || use === undefined) return;
    try {
      use.input = (native.input === "" ? (use.input ?? {}) : parsedJson(native.input)) as Json;
    } catch {
      use.input = {};
    }
  }

  /** A picture that the model drew is a file of the answer. */
  #pictures(): void {
    for (const [index, { block }] of this.#natives) {
      const image = objectIn(block.image);
      const data = textIn(objectIn(image?.source)?.bytes);
      if (!data) continue;
      const mediaType = typeOfFile({ mediaType: `image/${textIn(image?.format) ?? "png"}`, data });
      this.#answer.part(index, { type: "file", mediaType, data, opaque: { drawn: true } });
    }
  }

  /** A block of a whole response. */
  #block(index: number, block: JsonObject): void {
    this.#last = index;
    const text = writtenIn(block.text);
    const use = objectIn(block.toolUse);
    const reasoning = objectIn(block.reasoningContent);
    const cited = objectIn(block.citationsContent);
    if (text !== undefined) this.#answer.text(index, text);
    else if (use !== undefined && textIn(use.type) !== "server_tool_use") {
      this.#start(index, block);
      const input = argsIn(use, "input") ?? {};
      const args = JSON.stringify(input);
      this.#calls.set(index, args === "{}" ? "" : args);
      this.#answer.argsWhole(index, input);
      this.#answer.callEnd(index);
    } else if (reasoning !== undefined)
      this.#reasoning(index, { ...objectIn(reasoning.reasoningText), ...reasoning });
    else if (cited !== undefined) {
      const pieces = listIn(cited.content);
      this.#answer.text(index, pieces.map((piece) => writtenIn(objectIn(piece)?.text) ?? "").join(""));
      for (const citation of listIn(cited.citations)) this.#answer.attach(index, { citation });
    } else this.#native(index, Object.keys(block)[0] ?? "unknown", block);
  }

  #ending(payload: JsonObject): void {
    this.#word = stopWord(payload.stopReason) ?? this.#word;
    // In a stream they are in the last event's additional fields, in a whole response at the top level.
    const more = objectIn(payload.additionalModelResponseFields);
    const sequence = textIn((objectIn(more?.delta) ?? more)?.stop_sequence);
    if (sequence) this.#detail ??= sequence;
  }

  #metadata(payload: JsonObject): void {
    const usage = objectIn(payload.usage);
    const reason = textIn(objectIn(objectIn(payload.trace)?.guardrail)?.actionReason);
    if (reason) this.#guarded = reason;
    if (usage === undefined) return;
    this.#hasUsage = true;
    const input = countIn(usage.inputTokens);
    const cacheRead = countIn(usage.cacheReadInputTokens);
    const cacheWrite = countIn(usage.cacheWriteInputTokens);
    this.#answer.count({
      // Cached tokens are counted separately from the input.
      inputTokens: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
      outputTokens: countIn(usage.outputTokens),
      cachedInputTokens: cacheRead,
      cacheWriteTokens: cacheWrite,
      cacheWrite1hTokens: cachedForAnHour(usage.cacheDetails),
    });
  }
}

/** What was written to the cache for an hour; undefined if nothing was. */
function cachedForAnHour(details: Json | undefined): number | undefined {
  let sum = 0;
  for (const one of Array.isArray(details) ? details : []) {
    const { ttl, inputTokens } = objectIn(one) ?? {};
    if (ttl === "1h") sum += countIn(inputTokens) ?? 0;
  }
  return sum || undefined;
}

/** The blocks that one means: some gateways send its text alone, or beside a call. */
function blocksIn(given: Json): JsonObject[] {
  const block = solid(objectIn(given) ?? { text: writtenIn(given) ?? "" });
  const { text, ...more } = block;
  if (Object.keys(more).length === 0) return [{ text: text ?? "" }];
  return text === undefined || more.toolUse === undefined ? [block] : [{ text }, more];
}

export const bedrockDecoder = (target: Target, emit: Emit): Decoder => new BedrockAnswer(target, emit);

export function bedrockWhole(body: Json, target: Target, emit: Emit): AssistantMessage {
  const given = objectIn(body);
  const response = given && unwrapped(given, ({ output }) => objectIn(output) !== undefined);
  if (response === undefined || objectIn(response.output) === undefined) {
    // Amazon's own form, or a gateway's.
    const refused = [response?.message, response?.__type, response?.error].some((one) => one !== undefined);
    if (refused)
      throw bedrockStreamError(
        { event: textIn(response?.__type), data: JSON.stringify(body), exception: true },
        target,
      );
    throw noAnswer(
      body,
      `${target.origin.provider} answered with something that is no Converse response; is the base URL one of the Bedrock runtime?`,
    );
  }
  return new BedrockAnswer(target, emit).whole(response);
}
