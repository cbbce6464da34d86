// The room of reading a Responses stream, or a whole response.
//
// Known hazards: item ids change from event to event on some routes, so `output_index` is used for correlation (F079);
// arguments may come only with a `done` event, and whole items only with the terminal one, or the other way round (F078,
// F080); an error comes as an event and again as a failed response, but is one error (F153); a proxy may put two responses
// into one stream (F077).

import {
  type AssistantMessage,
  cutRaw,
  type Json,
  type JsonObject,
  type ModelEvent,
  RondoError,
  type StopKind,
  type Usage,
} from "@rondo/core";
import { type AnswerEnd, answerLimit } from "../../answer/ends.ts";
import type { Answer } from "../../answer.ts";
import type { Decoder, Frame, Target } from "../../codec.ts";
import { parseExact } from "../../exact-json.ts";
import { FrameJson } from "../../frame-json.ts";
import { numberIn, objectIn, parsedFrame, textIn } from "../../json-values.ts";
import { bareError, isEndWord, isErrorEvent, isSilent, piecesIn } from "../bare-frames.ts";
import { isFlatError, told } from "../flat-errors.ts";
import { foreignStop } from "../foreign-stops.ts";
import { answerOf } from "../leaks/leaking-answer.ts";
import { speaker, streamError, unreadable } from "../openai/errors.ts";
import { nameTable } from "../openai/names.ts";
import { settle } from "../openai/settle.ts";
import { openaiResponsesStops, stopOf } from "../openai/stops.ts";
import { responsesUsage } from "../openai/usage.ts";
import { outputOf } from "./duplicate-items.ts";
import { ResponseItems } from "./output.ts";

export class ResponsesDecoder implements Decoder {
  readonly #target: Target;
  readonly #answer: Answer;
  readonly #items: ResponseItems;
  readonly #frames = new FrameJson([["delta"]], parseExact);
  /** The id of the response in progress. */
  #begun: string | undefined;
  /** The response in the terminal event. */
  #response: JsonObject | undefined;
  #failed = false;
  #done = false;
  /** An event that consists only of a message text: a notice, or the reason why no more came. */
  #words: JsonObject | undefined;

  constructor(target: Target, emit: (event: ModelEvent) => void) {
    this.#target = target;
    this.#answer = answerOf(target, emit, (name) => nameTable(target.origin).own(name));
    this.#items = new ResponseItems(this.#answer, target, () => emit({ type: "progress" }));
  }

  get finished(): boolean {
    return this.#response !== undefined || this.#failed || this.#done;
  }

  push(frame: Frame): void {
    if (this.finished) return;
    const data = frame.data.trim();
    if (!data.startsWith("{")) {
      if (isSilent(frame, data)) return;
      const error = bareError(frame, data);
      if (error !== undefined) throw this.#fail(error);
      this.#done = isEndWord(data);
      if (this.#done) return;
    }
    const value = parsedFrame(this.#frames, data);
    const event = objectIn(value);
    if (event === undefined) {
      const pieces = piecesIn(value, data);
      if (pieces === undefined) throw this.#fault(unreadable(data, this.#target, this.#answer));
      for (const piece of pieces) this.push({ event: undefined, data: piece });
      return;
    }
    // Some gateways name the event only on the event line.
    const type = isErrorEvent(frame.event) ? "error" : textIn(event.type);
    this.#event(type ?? frame.event ?? "", event);
  }

  /** A whole response. */
  take(response: JsonObject): void {
    this.#end(response);
  }

  end(): AssistantMessage {
    const response = this.#response;
    if (response === undefined && this.#words !== undefined) throw this.#fail(this.#words);
    if (response === undefined) throw this.#answer.truncated("responses");
    const status = textIn(response.status);
    const reason = textIn(objectIn(response.incomplete_details)?.reason);
    const raw = reason || status;
    if (status === "in_progress" || status === "queued")
      throw this.#answer.failed(
        new RondoError(
          "stream_truncated",
          `${speaker(this.#target)} answered with a response that is still ${status}: background mode is not supported`,
          { raw: cutRaw(response) },
        ),
      );
    // Without a status, the response itself says that this is the end.
    const wire = raw === undefined ? "end_turn" : responsesStop(raw, status);
    if (wire === "error")
      throw this.#answer.failed(
        new RondoError("server_error", `${speaker(this.#target)} ended its response as "${raw}"`, {
          raw: cutRaw(response.error ?? raw ?? null),
        }),
      );
    this.#answer.settleCalls(false);
    const end: AnswerEnd = { wire, ...(raw === undefined ? { detail: "finish_missing" } : { raw }) };
    return settle(this.#answer.finish(end, answerLimit(this.#target)));
  }

  partial(): AssistantMessage | undefined {
    return this.#answer.partial();
  }

  get usage(): Usage | undefined {
    return this.#answer.usage;
  }

  #event(type: string, event: JsonObject): void {
    switch (type) {
      case "error":
      case "response.error":
        throw this.#fail(
          objectIn(event.error) === undefined ? { error: flatError(event) } : { error: event.error ?? null },
        );
      case "response.failed": {
        const response = responseOf(event);
        this.#answer.count(responsesUsage(response.usage));
        throw this.#fail({ error: failureIn(response) ?? failureIn(event) ?? unexplained });
      }
      case "response.completed":
      case "response.incomplete":
      case "response.cancelled":
      case "response.done":
        this.#end(ended(responseOf(event), type.slice("response.".length)));
        return;
      case "response.created":
      case "response.in_progress":
      case "response.queued": {
        const response = responseOf(event);
        if (response.status === "failed") throw this.#fail({ error: failureIn(response) ?? unexplained });
        if (type === "response.created") this.#begin(textIn(response.id));
        return;
      }
      default:
        // The whole response as one event, from a server that does not stream.
        if (type === "" && event.object === "response") {
          this.#end(event);
          return;
        }
        // An event in another protocol's form that nevertheless carries an error.
        if ((type === "" || type.endsWith("error")) && (told(event.error) || isFlatError(event)))
          throw this.#fail(event);
        if (type === "" && (told(event.message) || told(event.Message))) this.#words = event;
        this.#items.event(type, event);
    }
  }

  /** Fails if a second response begins in the stream: the calls of one would be mixed with the text of the other (F077). */
  #begin(id: string | undefined): void {
    const isOther = id !== undefined && this.#begun !== undefined && id !== this.#begun;
    if (isOther && this.#items.any)
      throw this.#fault(
        this.#answer.failed(
          new RondoError(
            "protocol",
            `${speaker(this.#target)} began another response (${id}) before the first (${this.#begun}) had ended`,
            { retryable: true },
          ),
        ),
      );
    this.#begun = id ?? this.#begun;
  }

  #end(response: JsonObject): void {
    this.#answer.count(responsesUsage(response.usage));
    const failure = failureIn(response);
    if (response.status === "failed" || failure !== undefined)
      throw this.#fail({ error: failure ?? unexplained });
    this.#items.fill(outputOf(response));
    this.#response = response;
  }

  #fail(body: Json): RondoError {
    return this.#fault(streamError(body, this.#target, this.#answer));
  }

  #fault(error: RondoError): RondoError {
    this.#failed = true;
    return error;
  }
}

const unexplained = "the response failed without saying why";

/** The response of an event; some gateways put it in the event's place, or its usage beside it. */
function responseOf(event: JsonObject): JsonObject {
  const response = objectIn(event.response);
  if (response === undefined) return event;
  return response.usage || !event.usage ? response : { ...response, usage: event.usage };
}

/** Why a response failed, from either of its members; some servers put it beside the response. */
function failureIn(given: JsonObject | undefined): Json | undefined {
  return [given?.error, given?.last_error].find(told);
}

/** The response that an event ended: some servers report the status only by the event's name, or leave the initial status in the response. */
function ended(response: JsonObject, as: string): JsonObject {
  const status = textIn(response.status);
  const isOpen = status === undefined || status === "in_progress" || status === "queued";
  // The name `done` says nothing about the status.
  const { status: _, ...rest } = response;
  return !isOpen ? response : as === "done" ? rest : { ...rest, status: as };
}

/** Incomplete for an unknown reason counts as truncated: then none of its calls runs. */
function responsesStop(word: string, status: string | undefined): StopKind {
  const own = stopOf(openaiResponsesStops, word);
  if (own !== "unknown") return own;
  const foreign = foreignStop(word);
  return foreign === "unknown" && status === "incomplete" ? "max_tokens" : foreign;
}

/** `{type: "error", code, message}`: the event's type is not the error's type. */
function flatError(event: JsonObject): JsonObject {
  const { type, sequence_number: _, ...others } = event;
  const isOwn = type === undefined || type === "error" || type === "response.error";
  const rest: JsonObject = isOwn ? others : { ...others, type };
  return numberIn(rest.code) === undefined && Object.keys(rest).length === 0
    ? { message: "an error without words" }
    : rest;
}
