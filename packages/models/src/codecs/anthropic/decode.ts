// The room of Anthropic bodies: the frames of a stream, or one whole message, become an answer.

import {
  type AssistantMessage,
  cutRaw,
  type Json,
  type JsonObject,
  type ModelEvent,
  RondoError,
} from "@rondo/core";
import type { Decoder, Frame, Target } from "../../codec.ts";
import { parseExact } from "../../exact-json.ts";
import { FrameJson, type FrameTemplate } from "../../frame-json.ts";
import { objectIn, parsedFrame, writtenIn } from "../../json-values.ts";
import { bareError, isEndWord, isErrorEvent, isSilent, piecesIn } from "../bare-frames.ts";
import { unwrapped } from "../envelopes.ts";
import { isFlatError, told } from "../flat-errors.ts";
import { noAnswer } from "../no-answer.ts";
import { baseRespError } from "../openai-chat/base-resp.ts";
import { AnthropicAnswer } from "./answer.ts";
import { anthropicStreamError } from "./errors.ts";

type Emit = (event: ModelEvent) => void;

/** A frame's JSON object, or the data of the frames in it. Undefined for a ping; throws a stream error for anything else. */
export function frameIn(
  frame: Frame,
  provider: string,
  json: { parse(text: string): Json } = JSON,
): JsonObject | readonly string[] | undefined {
  const text = frame.data.trim();
  if (!text.startsWith("{") && (isSilent(frame, text) || isEndWord(text))) return undefined;
  const value = parsedFrame(json, text);
  const found = objectIn(value) ?? piecesIn(value, text);
  if (found !== undefined) return found;
  const what = value === undefined ? "not JSON" : "no JSON object";
  throw new RondoError(
    "stream_error",
    `${provider} sent a stream event that is ${what}: ${text.slice(0, 200)}`,
    { raw: cutRaw(text) },
  );
}

/** Whether a frame held others. */
export const isPieces = (found: JsonObject | readonly string[]): found is readonly string[] =>
  Array.isArray(found);

/** Builds an answer from the frames of a stream. */
export class AnthropicDecoder extends AnthropicAnswer implements Decoder {
  readonly #provider: string;
  readonly #frames = new FrameJson(
    [
      ["delta", "text"],
      ["delta", "thinking"],
      ["delta", "partial_json"],
    ],
    parseExact,
  );
  #named: string | undefined;
  frameTemplate: FrameTemplate | undefined;

  constructor(target: Target, emit: Emit) {
    super(target, emit);
    this.#provider = target.origin.provider;
  }

  push(frame: Frame): void {
    if (this.finished || (frame.event === this.#named && this.frameTemplate?.takes(frame.data))) return;
    this.frameTemplate = undefined;
    this.#named = frame.event;
    const data = frame.data.trim();
    const error = data.startsWith("{") ? undefined : bareError(frame, data);
    const event = error ?? frameIn(frame, this.#provider, this.#frames);
    if (event === undefined) return;
    if (isPieces(event)) {
      for (const piece of event) this.push({ event: undefined, data: piece });
      return;
    }
    this.event(event, isErrorEvent(frame.event) ? "error" : frame.event);
    this.frameTemplate = this.again && this.#frames.frameTemplate(this.again);
  }
}

export function anthropicWhole(body: Json, target: Target, emit: Emit): AssistantMessage {
  const given = objectIn(body);
  const message = given && unwrapped(given, ({ content }) => content !== undefined);
  const refused = message?.type === "error" || message?.success === false;
  if (refused || told(message?.error)) throw anthropicStreamError(body, target.origin.provider);
  const failed = message === undefined ? undefined : baseRespError(message);
  if (failed !== undefined) throw anthropicStreamError(failed, target.origin.provider);
  const content = message === undefined ? undefined : contentOf(message);
  if (message !== undefined && content === undefined && isFlatError(message))
    throw anthropicStreamError(body, target.origin.provider);
  if (message === undefined || content === undefined)
    throw noAnswer(
      body,
      `${target.origin.provider} answered with something that is no message; is the base URL one of the Anthropic Messages protocol?`,
    );
  return new AnthropicAnswer(target, emit).message({ ...message, content });
}

/** A message's blocks; some servers send one text or one block instead of a list, or nothing. */
function contentOf({ type, content, stop_reason }: JsonObject): Json[] | undefined {
  if (Array.isArray(content)) return content;
  if (content === "") return [];
  if ((writtenIn(content) ?? objectIn(content)) !== undefined) return [content as Json];
  return content === null && type === "message" && typeof stop_reason === "string" ? [] : undefined;
}
