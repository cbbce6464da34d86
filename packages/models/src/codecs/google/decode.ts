// The room of Google's answers: GenerateContent responses, streamed or whole, as one answer.
//
// Parts have no index. Consecutive pieces of one kind make one part, but a part with a thoughtSignature is never joined
// with another, nor left out if empty: Gemini 3 refuses a history without it. Errors come inside a 200 stream, a block
// comes without candidates, and STOP also ends answers with calls.

import {
  type AssistantMessage,
  type Json,
  type ModelEvent,
  type Opaque,
  type Part,
  RondoError,
  type Usage,
} from "@rondo/core";
import { Answer } from "../../answer.ts";
import type { Decoder, Frame, Target } from "../../codec.ts";
import { parseExact } from "../../exact-json.ts";
import { FrameJson } from "../../frame-json.ts";
import { objectIn, parsedFrame } from "../../json-values.ts";
import { bareError, gluedIn, isEndWord, isErrorEvent, isSilent } from "../bare-frames.ts";
import { Base64Pieces } from "../base64-pieces.ts";
import { isFlatError, told } from "../flat-errors.ts";
import { isBareSamples } from "../media-types.ts";
import { GoogleCalls } from "./calls.ts";
import { paused } from "./continuation.ts";
import { googleStreamError, notJson } from "./errors.ts";
import { GoogleSources } from "./sources.ts";
import { googleStop, isBrokenOff } from "./stops.ts";
import { latest, usageOf } from "./usage.ts";
import {
  answerIn,
  candidatesOf,
  finishWord,
  type GoogleCandidate,
  type GooglePart,
  type GoogleUsage,
  inCamel,
  isObject,
  kindOf,
  listOf,
  nativeParts,
  partsOf,
  wordOf,
} from "./wire.ts";

/** A sound without a header, whose pieces are joined. */
interface Sound {
  key: number;
  mediaType: string;
  pieces: Base64Pieces;
}

export class GoogleDecoder implements Decoder {
  readonly #answer: Answer;
  readonly #emit: (event: ModelEvent) => void;
  readonly #target: Target;
  readonly #frames = new FrameJson([["candidates", 0, "content", "parts", 0, "text"]], parseExact);
  /** Gemini has no end sentinel, and older models repeat STOP in every event: only the end of the stream is the end. */
  finished = false;
  #blocks = 0;
  /** The text or reasoning block that the next piece of the same kind continues. */
  #open: { kind: "text" | "reasoning"; key: number } | undefined;
  #lastText: number | undefined;
  readonly #calls: GoogleCalls;
  #usage: GoogleUsage = {};
  readonly #sources = new GoogleSources();
  #heard = false;
  #word: string | undefined;
  /** The finish reason came after all content. */
  #ended = false;
  /** How many pieces of content arrived. */
  #said = 0;
  /** The candidate that ended the answer, if it had calls. */
  #last: string | undefined;
  /** The last sound that came in pieces. */
  #sound: Sound | undefined;
  #detail: string | undefined;
  /** With it, the server continues an answer that was too long for one request. */
  #token = "";
  #blocked: string | undefined;
  #warned = false;

  constructor(target: Target, emit: (event: ModelEvent) => void) {
    this.#target = target;
    this.#emit = emit;
    this.#answer = new Answer(target, emit);
    this.#calls = new GoogleCalls(this.#answer, () => this.#blocks++);
  }

  get complete(): boolean {
    return this.#ended;
  }

  push(frame: Frame): void {
    const data = frame.data.trim();
    if (!data.startsWith("{")) {
      if (isSilent(frame, data)) return;
      const error = bareError(frame, data);
      if (error !== undefined) throw this.#refused(error);
      if (isEndWord(data)) {
        this.finished = true;
        return;
      }
    }
    const value = parsedFrame(this.#frames, data);
    if (value === undefined) {
      const glued = gluedIn(data);
      if (glued === undefined) throw this.#failed(notJson(data, this.#target));
      for (const piece of glued) this.push({ event: frame.event, data: piece });
      return;
    }
    if (isErrorEvent(frame.event) && objectIn(value)?.error === undefined) throw this.#refused(value);
    this.takeAll(value);
  }

  /** One response, or an array of them, as a server sends if SSE was not requested. */
  takeAll(value: Json): void {
    if (Array.isArray(value)) for (const one of value) this.#take(one);
    else this.#take(value);
  }

  end(): AssistantMessage {
    this.#count();
    if (this.#word === undefined && this.#blocked === undefined) {
      if (!this.#heard && this.#answer.empty) throw this.#empty();
      this.finished = true;
      throw this.#answer.truncated("Google");
    }
    return this.#finish();
  }

  /** The end of an answer that came as one body: it cannot be truncated, even without a finish reason. */
  endWhole(): AssistantMessage {
    this.#count();
    if (this.#word === undefined && this.#blocked === undefined && !this.#heard && this.#answer.empty)
      throw this.#empty();
    return this.#finish();
  }

  partial(): AssistantMessage | undefined {
    this.#count();
    return this.#answer.partial();
  }

  get usage(): Usage | undefined {
    this.#count();
    return this.#answer.usage;
  }

  #take(value: Json): void {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw this.#failed(notJson(JSON.stringify(value), this.#target));
    const answer = answerIn(value);
    const isOurs = answer.candidates ?? answer.promptFeedback ?? answer.usageMetadata;
    if (told(answer.error as Json | undefined)) throw this.#refused(answer as unknown as Json);
    if (isOurs === undefined && isFlatError(value)) throw this.#refused(value);
    if (isObject(answer.usageMetadata)) this.#usage = latest(this.#usage, inCamel(answer.usageMetadata));
    const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = this.#usage;
    this.#answer.writes(candidatesTokenCount + thoughtsTokenCount);
    const feedback = isObject(answer.promptFeedback) ? inCamel(answer.promptFeedback) : {};
    const blockReason = wordOf(feedback.blockReason).replace(/^BLOCK_REASON_UNSPECIFIED$/, "");
    if (blockReason !== "") {
      const blockReasonMessage = wordOf(feedback.blockReasonMessage);
      this.#blocked = blockReason;
      this.#detail = `the prompt was blocked (${blockReason})${blockReasonMessage ? `: ${blockReasonMessage}` : ""}; the newest message or tool result is the likely cause`;
    }
    for (const candidate of candidatesOf(answer)) {
      if (Number(candidate.index ?? 0) === 0) this.#candidate(candidate);
      else if (!this.#warned) {
        this.#warned = true;
        this.#emit({
          type: "warning",
          code: "unsupported_setting",
          message: "Google sent several candidates; only the first is kept",
        });
      }
    }
  }

  #candidate(candidate: GoogleCandidate): void {
    this.#heard = true;
    if (this.#isLast(candidate)) return;
    const before = this.#said;
    for (const part of partsOf(candidate)) this.#part(part);
    this.#sources.add(candidate);
    const word = finishWord(candidate.finishReason);
    if (word === "") {
      if (this.#said > before) this.#goOn(before);
      return;
    }
    this.#word = word;
    this.#token = wordOf(candidate.continuationToken) || this.#token;
    this.#ended = this.#said > 0 || googleStop(word) !== "end_turn";
    const ratings = listOf(candidate.safetyRatings)
      .filter(
        (rating) =>
          rating.blocked === true || rating.probability === "HIGH" || rating.probability === "MEDIUM",
      )
      .map((rating) => `${rating.category} ${rating.probability ?? "blocked"}`);
    const said = [wordOf(candidate.finishMessage), ...ratings].filter((words) => words).join("; ");
    if (said !== "") this.#detail = said;
  }

  /** Whether an event with calls that ended the answer is repeated: a proxy passed it on twice. */
  #isLast(candidate: GoogleCandidate): boolean {
    if (!this.#ended && finishWord(candidate.finishReason) === "") return false;
    const calls = partsOf(candidate).filter((part) => isObject(part.functionCall));
    const said = calls.length === 0 ? undefined : JSON.stringify(candidate);
    const isLast = this.#ended && said !== undefined && said === this.#last;
    this.#last = said;
    return isLast;
  }

  /**
   * More content follows without a finish reason. An earlier one before any content came from a gateway that sends STOP
   * with every empty piece.
   */
  #goOn(before: number): void {
    if (before === 0) this.#word = undefined;
    this.#ended = false;
  }

  #part(part: GooglePart): void {
    const given = wordOf(part.thoughtSignature);
    const signature = given === "" ? undefined : { thoughtSignature: given };
    if (isObject(part.functionCall) || wordOf(part.text) !== "") this.#said++;
    if (isObject(part.functionCall)) {
      this.#open = undefined;
      this.#calls.take(inCamel(part.functionCall), signature);
      return;
    }
    const isFile = isObject(part.inlineData) || isObject(part.fileData);
    if (isFile && part.thought !== true) {
      this.#file(part, signature);
      return;
    }
    const kind = kindOf(part);
    // A picture that was only a thought is no part of the answer.
    if (kind !== undefined && (isFile || nativeParts.includes(kind) || typeof part.text !== "string")) {
      this.#open = undefined;
      this.#answer.native(this.#blocks++, kind, part as unknown as Opaque);
      return;
    }
    this.#words(part.thought === true ? "reasoning" : "text", wordOf(part.text), signature);
  }

  #words(kind: "text" | "reasoning", text: string, signature: Opaque | undefined): void {
    if (text === "" && signature === undefined) return;
    if (signature !== undefined || this.#open?.kind !== kind) this.#open = { kind, key: this.#blocks++ };
    const key = this.#open.key;
    if (kind === "text") {
      this.#answer.text(key, text);
      this.#lastText = key;
    } else this.#answer.reasoning(key, text);
    if (signature !== undefined) {
      this.#answer.attach(key, { opaque: signature });
      this.#open = undefined;
    }
  }

  #file(part: GooglePart, signature: Opaque | undefined): void {
    this.#open = undefined;
    const inline = isObject(part.inlineData) ? inCamel(part.inlineData) : undefined;
    const file = isObject(part.fileData) ? inCamel(part.fileData) : {};
    const given = inline ?? file;
    const name = wordOf(given.displayName);
    const mediaType = wordOf(given.mimeType) || "application/octet-stream";
    const heard =
      inline !== undefined && signature === undefined && isBareSamples(mediaType)
        ? this.#soundOf(mediaType)
        : undefined;
    const data = wordOf(inline?.data);
    const told: Part = {
      type: "file",
      mediaType,
      ...(inline === undefined
        ? { url: wordOf(file.fileUri) }
        : { data: heard === undefined ? data : heard.pieces.add(data) }),
      ...(name === "" ? {} : { name }),
      ...(signature === undefined ? {} : { opaque: signature }),
    };
    this.#answer.part(heard?.key ?? this.#blocks++, told);
  }

  /** Speech comes in pieces without headers: those that follow one another are one sound. */
  #soundOf(mediaType: string): Sound {
    const open = this.#sound;
    if (open?.mediaType === mediaType && open.key === this.#blocks - 1) return open;
    this.#sound = { key: this.#blocks++, mediaType, pieces: new Base64Pieces() };
    return this.#sound;
  }

  /** Usage comes with every event and only the last counts: it is read when needed. */
  #count(): void {
    this.#answer.count(usageOf(this.#usage));
  }

  /** Sources belong to the answer's last text; without any text they are a part of their own. */
  #attachSources(): void {
    for (const source of this.#sources.all) {
      if (this.#lastText === undefined) this.#answer.native(this.#blocks++, "sources", source as Opaque);
      else this.#answer.attach(this.#lastText, { citation: source });
    }
  }

  #finish(): AssistantMessage {
    this.finished = true;
    if (this.#word !== undefined && isBrokenOff(this.#word)) throw this.#answer.brokenOff(this.#word);
    const wire =
      this.#word === undefined
        ? this.#blocked === undefined
          ? undefined
          : "content_filter"
        : googleStop(this.#word);
    // At the output limit an open call was cut off; at any other end it was merely not closed.
    if (wire === "max_tokens") this.#calls.cut();
    else this.#calls.close();
    const lost = this.#answer.settleCalls(this.#calls.strayArgs) && wire === "end_turn";
    this.#attachSources();
    const raw = this.#word ?? this.#blocked;
    const kind = lost ? "malformed_call" : wire;
    const message = this.#answer.finish({
      ...(kind === undefined ? {} : { wire: kind }),
      ...(raw === undefined ? {} : { raw }),
      ...(this.#detail === undefined ? {} : { detail: this.#detail }),
    });
    if (kind !== "malformed_call") return paused(message, this.#token);
    // The candidate of a malformed call is never sent back: none of its calls, and no part that is only a signature.
    const content = message.content.filter(
      (part) => (part.type === "text" || part.type === "reasoning") && part.text !== "",
    );
    return { ...message, content };
  }

  #empty(): RondoError {
    this.finished = true;
    const { provider, model } = this.#target.origin;
    return this.#answer.failed(
      new RondoError(
        "empty_response",
        `${provider}/${model} answered with no candidates and no reason; send the request again`,
      ),
    );
  }

  #refused(body: Json): RondoError {
    this.finished = true;
    return this.#failed(googleStreamError(body, this.#target));
  }

  /** The same error, with what had arrived. */
  #failed(error: RondoError): RondoError {
    this.#count();
    return this.#answer.failed(error);
  }
}
