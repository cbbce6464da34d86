// The room of reading Chat Completions answers, streamed or whole.
//
// The order of things here answers known hazards: an error may come beside normal choices, so it is looked for first;
// chunks may lack choices, choices a delta, and usage is in one of four places; the finish reason may come twice, early, or
// never, so nothing is decided before the end; a call is judged only when all of it has arrived (F074).

import type { AssistantMessage, Json, JsonObject, ModelEvent, Usage } from "@rondo/core";
import { Answer } from "../../answer.ts";
import type { Decoder, Frame, Target } from "../../codec.ts";
import { parseExact } from "../../exact-json.ts";
import { FrameJson, type FrameTemplate, type TextPath } from "../../frame-json.ts";
import { isHollow, listIn, objectIn, parsedFrame, textIn, writtenIn } from "../../json-values.ts";
import { bareError, isEndWord, isErrorEvent, isSilent, piecesIn } from "../bare-frames.ts";
import { refusedAnswer, streamError, unreadable } from "../openai/errors.ts";
import { type NameTable, nameTable } from "../openai/names.ts";
import { settle } from "../openai/settle.ts";
import { chatUsage } from "../openai/usage.ts";
import { baseRespError } from "./base-resp.ts";
import { CallTracker } from "./calls.ts";
import {
  callOfPart,
  callsIn,
  FirstChoice,
  failureIn,
  isSplit,
  onlyMember,
  partsIn,
  reasoningIn,
  saidIn,
  sourcesIn,
  textOf,
  withChoices,
  wordIn,
  wordsOf,
} from "./chunk.ts";
import { chatCompat, type OpenaiChatCompat } from "./compat.ts";
import { ReasoningDetails } from "./details.ts";
import { type ChatEnd, failureOf, finished, isBroken, isCut, isGrave, wireOf } from "./end.ts";
import { GoogleThoughts } from "./google-thoughts.ts";
import { AudioPieces, imageIn } from "./media.ts";
import { OneAnswer } from "./one-answer.ts";
import { ReasoningParts } from "./reasoning-parts.ts";
import { ChatTexts } from "./texts.ts";
import { ThinkingBlocks } from "./thinking-blocks.ts";

/** Where a chunk's text may be. */
const textPaths: readonly TextPath[] = [
  ["choices", 0, "delta", "content"],
  ["choices", 0, "delta", "reasoning_content"],
  ["choices", 0, "delta", "reasoning"],
  ["choices", 0, "delta", "tool_calls", 0, "function", "arguments"],
];

export class ChatDecoder implements Decoder {
  readonly #target: Target;
  readonly #first = new FirstChoice();
  readonly #one = new OneAnswer();
  readonly #answer: Answer;
  readonly #frames = new FrameJson(textPaths, parseExact);
  readonly #names: NameTable;
  readonly #compat: OpenaiChatCompat;
  readonly #texts: ChatTexts;
  readonly #calls: CallTracker;
  readonly #details = new ReasoningDetails();
  readonly #thoughtParts = new ReasoningParts();
  readonly #blocks = new ThinkingBlocks();
  /** The key of the call in the older field `function_call`. */
  #legacy: string | undefined;
  /** Nothing more can come: the end sentinel arrived, or the answer was refused. */
  finished = false;
  #refused: AssistantMessage | undefined;
  #word: string | undefined;
  #nativeWord: string | undefined;
  #citations: readonly Json[] = [];
  readonly #audio = new AudioPieces();
  readonly #thoughts = new GoogleThoughts();
  /** Copilot's encrypted reasoning. */
  #opaque: string | undefined;
  #parts = 0;
  /** The last whole message in a chunk. */
  #snapshot: JsonObject | undefined;
  #hasDeltas = false;
  /** A chunk that consists only of a message text: a notice, or the reason why no more came. */
  #words: JsonObject | undefined;
  /** The calls come in another choice than the first. */
  #elsewhere = false;
  /** How the last chunk's text was taken, if it did nothing else. */
  #again: ((text: string) => void) | undefined;
  frameTemplate: FrameTemplate | undefined;

  constructor(target: Target, emit: (event: ModelEvent) => void) {
    this.#target = target;
    this.#answer = new Answer(target, emit);
    this.#names = nameTable(target.origin);
    this.#calls = new CallTracker(this.#names.offered);
    this.#compat = chatCompat(target);
    this.#texts = new ChatTexts(this.#answer, this.#names, this.#compat);
  }

  get complete(): boolean {
    return this.#word !== undefined;
  }

  push(frame: Frame): void {
    const isError = frame.event !== undefined && isErrorEvent(frame.event);
    if (this.finished || (!isError && this.frameTemplate?.takes(frame.data))) return;
    this.frameTemplate = undefined;
    const data = frame.data.trim();
    if (!data.startsWith("{")) {
      if (isSilent(frame, data)) return;
      const error = bareError(frame, data);
      if (error) throw streamError(error, this.#target, this.#answer);
      this.finished = isEndWord(data);
      if (this.finished) return;
    }
    const value = parsedFrame(this.#frames, data);
    const chunk = objectIn(value);
    if (chunk === undefined) {
      const pieces = piecesIn(value, data);
      if (pieces === undefined) throw unreadable(data, this.#target, this.#answer);
      for (const piece of pieces) this.push({ ...frame, data: piece });
      return;
    }
    this.take(chunk, isError);
    this.frameTemplate = this.#again && this.#frames.frameTemplate(this.#again);
  }

  /** One chunk of a stream, or a whole answer. */
  take(given: JsonObject, isError: boolean = false): void {
    const chunk = isError ? given : withChoices(given);
    this.#again = undefined;
    const choice = this.#first.in(chunk.choices) ?? this.#callsElsewhere(chunk.choices);
    const delta = saidIn(choice?.delta);
    if (this.#word === undefined && choice !== undefined)
      this.#one.check(chunk, delta, this.#answer, this.#target);
    const base = chunk.base_resp ? baseRespError(chunk) : undefined;
    if (base !== undefined) {
      this.#fail(base);
      return;
    }
    const failure = isError ? chunk : failureIn(chunk, choice?.error ?? delta?.error);
    if (chunk.x_groq) this.#answer.count(chatUsage(objectIn(chunk.x_groq)?.usage));
    if (chunk.usage) this.#answer.count(chatUsage(chunk.usage));
    // Some servers report an answer that reached its limit as an error as well.
    if (failure !== undefined && isCut(this.#word)) return;
    if (failure !== undefined) {
      // In a complete answer the content may come together with the error.
      this.#choice(choice, 0);
      this.#fail(failure);
      return;
    }
    if (chunk.choices === undefined && (textIn(chunk.message) ?? textIn(chunk.msg))) this.#words = chunk;
    if (chunk.citations || chunk.search_results) this.#citations = sourcesIn(chunk);
    if (this.#compat.splitChoices || isSplit(chunk.choices))
      for (const [at, one] of listIn(chunk.choices).entries()) this.#choice(objectIn(one), at);
    else this.#choice(choice, 0, delta);
  }

  /** @param at the choice's place, since one answer may be spread over several @param own its delta */
  #choice(choice: JsonObject | undefined, at: number, own = saidIn(choice?.delta)): void {
    if (choice === undefined) return;
    if (choice.usage) this.#answer.count(chatUsage(choice.usage));
    const message = choice.message ? saidIn(choice.message) : undefined;
    if (message !== undefined) this.#snapshot = message;
    this.#hasDeltas ||= own !== undefined;
    // A `message` that comes with deltas repeats what was streamed; alone it is the answer, or a piece of it (F085).
    const delta =
      own ??
      (this.#answer.empty || at > 0 ? message : undefined) ??
      (this.#hasDeltas ? undefined : this.#added(writtenIn(message?.content) ?? writtenIn(choice.text)));
    if (delta !== undefined) this.#delta(delta, own === undefined, at);
    if (choice.tool_calls && !delta?.tool_calls) this.#callList(callsIn(choice), own === undefined, at);
    const word = wordIn(choice, own);
    if (word !== undefined && !isGrave(this.#word)) this.#word = word;
    if (choice.native_finish_reason)
      this.#nativeWord = textIn(choice.native_finish_reason) ?? this.#nativeWord;
  }

  /**
   * The calls of another choice, if the first has none: some gateways number one answer's blocks as choices. (Several
   * answers are never requested.)
   */
  #callsElsewhere(given: Json | undefined): JsonObject | undefined {
    const other = objectIn(listIn(given)[0]);
    if (other === undefined) return undefined;
    const calls = listIn(objectIn(other.delta)?.tool_calls);
    this.#elsewhere ||= calls.length > 0 && this.#calls.empty;
    return this.#elsewhere ? { ...other, delta: { tool_calls: calls } } : undefined;
  }

  /** What a text without a delta adds to those before it: all of it, or what it has grown by. */
  #added(text: string | undefined): JsonObject | undefined {
    const content = this.#texts.added(text);
    return content === undefined ? undefined : { content };
  }

  end(): AssistantMessage {
    if (this.#word === undefined && this.#words !== undefined) this.#fail(this.#words);
    if (this.#refused !== undefined) return settle(this.#refused);
    if (this.#word === undefined && !this.finished) throw this.#answer.truncated("chat completions");
    return this.#finish();
  }

  /** The answer in a body that came at once: it is complete even without a finish reason. */
  endWhole(): AssistantMessage {
    this.finished = true;
    return this.end();
  }

  partial(): AssistantMessage | undefined {
    return this.#answer.partial();
  }

  get usage(): Usage | undefined {
    return this.#answer.usage;
  }

  #delta(delta: JsonObject, isWhole: boolean, at: number): void {
    const details = delta.reasoning_details ? this.#details.push(delta.reasoning_details) : undefined;
    const thinking = delta.thinking_blocks ? this.#blocks.push(delta.thinking_blocks) : "";
    const reasoning = reasoningIn(delta) || details?.reasoning || thinking;
    if (reasoning !== "") {
      this.#texts.areApart();
      this.#texts.say("reasoning", reasoning);
    } else if (
      (delta.reasoning_details || delta.thinking_blocks) &&
      !(this.#details.empty && this.#blocks.empty)
    )
      this.#answer.reasoning("reasoning", "");
    if (typeof delta.reasoning_opaque === "string") {
      this.#opaque = delta.reasoning_opaque;
      this.#answer.reasoning("reasoning", "");
    }
    if (!delta.content && details?.text) this.#texts.say("text", details.text);
    if (typeof delta.content === "string") this.#content(delta, delta.content);
    else if (delta.content !== undefined) for (const part of partsIn(delta.content)) this.#contentPart(part);
    if (typeof delta.refusal === "string" && delta.refusal !== "")
      this.#answer.refusal("refusal", delta.refusal);
    if (delta.tool_calls || delta.toolCalls) this.#callList(callsIn(delta), isWhole, at);
    if (delta.function_call) {
      this.#call({ index: -1, function: delta.function_call }, 0);
      // Some servers send an empty one beside real calls.
      if (textIn(objectIn(delta.function_call)?.name)) this.#legacy = this.#calls.last;
    }
    if (delta.annotations)
      for (const citation of listIn(delta.annotations).filter((one) => !isHollow(one))) {
        this.#answer.text("text", "");
        this.#answer.attach("text", { citation });
      }
    if (delta.images) for (const image of listIn(delta.images)) this.#image(image);
    if (delta.image) this.#image(delta.image);
    const audio = delta.audio ? objectIn(delta.audio) : undefined;
    if (audio !== undefined && !isHollow(audio)) this.#audio.add(audio, this.#answer);
    if (Array.isArray(delta.executed_tools) && !isHollow(delta.executed_tools))
      this.#answer.native("executed_tools", "executed_tools", { executed_tools: delta.executed_tools });
    if (!isWhole && this.#frames.isEdged && !this.#compat.splitChoices) this.#again = this.#sayingOnly(delta);
  }

  #content(delta: JsonObject, content: string): void {
    if (!delta.extra_content && !this.#thoughts.isOpen) {
      this.#texts.say("text", content);
      return;
    }
    const [thoughts, text] = this.#thoughts.split(delta, content);
    if (thoughts !== "") {
      this.#texts.areApart();
      this.#texts.say("reasoning", thoughts);
    }
    this.#texts.say("text", text);
  }

  /** How a delta's text is taken, if the delta has nothing else of importance. */
  #sayingOnly(delta: JsonObject): ((text: string) => void) | undefined {
    const member = onlyMember(delta);
    if (member === "content" && typeof delta.content === "string") return this.#texts.more("text");
    if (member === "reasoning_content" || member === "reasoning")
      return typeof delta[member] === "string" ? this.#texts.more("reasoning") : undefined;
    const calls = member === "tool_calls" ? listIn(delta.tool_calls) : [];
    return calls.length === 1 ? this.#calls.more(calls[0], this.#answer) : undefined;
  }

  /** In a whole answer the calls are distinguished by their places in the list, whatever their ids. */
  #callList(list: readonly Json[], isWhole: boolean, at: number): void {
    list.forEach((given, position) => {
      const call = objectIn(given);
      if (call !== undefined) this.#call(isWhole ? { ...call, index: at * 1000 + position } : call, position);
    });
  }

  #contentPart(given: Json): void {
    const text = writtenIn(given);
    if (text !== undefined) this.#texts.say("text", text);
    const part = objectIn(given);
    if (part === undefined || isHollow(part)) return;
    const call = callOfPart(part);
    if (call !== undefined) this.#call(call, this.#parts++);
    else if (part.type === "text" || part.type === "output_text" || (part.type ?? null) === null)
      this.#texts.say("text", textOf(part));
    else if (part.type === "thinking") this.#texts.say("reasoning", wordsOf(part.thinking ?? ""));
    else if (part.type === "reasoning") {
      this.#answer.reasoning("reasoning", "");
      this.#texts.say("reasoning", this.#thoughtParts.push(part));
    } else if (part.type === "refusal") this.#answer.refusal("refusal", textIn(part.refusal) ?? "");
    else if (part.type === "image_url") this.#image(part);
    else if (part.type === "reference") {
      this.#answer.text("text", "");
      this.#answer.attach("text", { citation: part });
    } else this.#answer.native(`part ${this.#parts++}`, textIn(part.type) ?? "unknown", { part });
  }

  #call(given: Json, position: number): void {
    const fragment = this.#calls.fragment(given, position);
    if (fragment === undefined) return;
    const { key, id, name, args, extra } = fragment;
    this.#answer.call(key, { id, name: this.#names.own(name) });
    if (typeof args === "string") this.#answer.args(key, args);
    else if (args !== undefined) this.#answer.argsWhole(key, args);
    if (extra !== undefined) this.#answer.attach(key, { opaque: extra });
  }

  #image(given: Json): void {
    const image = imageIn(given);
    // Gateways tell an image again at the end: it is the same one.
    if (image !== undefined) this.#answer.part(`image ${image.data ?? image.url}`, image);
  }

  #fail(body: JsonObject): void {
    for (const key of this.#calls.keys) this.#answer.drop(key);
    this.#texts.dropCalls();
    this.#texts.end();
    const refused = refusedAnswer(body, this.#target, this.#answer);
    if (refused === undefined) throw streamError(body, this.#target, this.#answer);
    this.#refused = refused;
    this.finished = true;
  }

  #finish(): AssistantMessage {
    const answer = this.#answer;
    // An answer, or calls, that come only in the message at the end.
    if (answer.empty && this.#snapshot !== undefined) this.#delta(this.#snapshot, true, 0);
    this.#texts.end();
    if (this.#calls.empty) this.#callList(listIn(this.#snapshot?.tool_calls), true, 0);
    // If there are calls of the protocol as well as calls in the text, only the former count.
    if (!this.#calls.empty) this.#texts.dropCalls();
    if (this.#legacy !== undefined && this.#calls.keys.length > 1) answer.drop(this.#legacy);
    for (const citation of this.#citations) answer.attach("text", { citation });
    if (!this.#details.empty)
      answer.attach("reasoning", { opaque: { reasoning_details: this.#details.whole() } });
    if (!this.#blocks.empty)
      answer.attach("reasoning", { opaque: { thinking_blocks: this.#blocks.whole() } });
    if (!this.#thoughtParts.empty)
      answer.attach("reasoning", { opaque: { content_parts: this.#thoughtParts.whole() } });
    if (this.#opaque !== undefined)
      answer.attach("reasoning", { opaque: { reasoning_opaque: this.#opaque } });
    const end: ChatEnd = { word: this.#word, native: this.#nativeWord };
    const wire = wireOf(end);
    if (isBroken(end, wire, answer.empty)) throw answer.failed(failureOf(end, this.#target));
    const { keys, last } = this.#calls;
    // Gateways number the calls, and give one's arguments the number of another.
    if (keys.length > 1) answer.settleArgs();
    // In a truncated answer only the last call can be truncated: the others were whole when it began.
    for (const key of keys) if (key !== last) answer.callEnd(key);
    return settle(finished(answer, end, wire, this.#target));
  }
}
