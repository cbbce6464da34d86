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
import { objectIn } from "../../json-values.ts";
import { bareError, gluedIn, isEndWord, isErrorEvent, isSilent } from "../bare-frames.ts";
import { isFlatError, told } from "../flat-errors.ts";
import { noAnswer } from "../no-answer.ts";
import { baseRespError } from "../openai-chat/base-resp.ts";
import { AnthropicAnswer } from "./answer.ts";
import { anthropicStreamError } from "./errors.ts";

type Emit = (event: ModelEvent) => void;

/** A frame's JSON object. Undefined for a ping; throws a stream error for anything else. */
export function frameObject(frame: Frame, provider: string, frames?: FrameJson): JsonObject | undefined {
  const text = frame.data.trim();
  if (!text.startsWith("{") && (isSilent(frame, text) || isEndWord(text))) return undefined;
  let value: unknown;
  try {
    value = frames === undefined ? JSON.parse(text) : frames.parse(text);
  } catch (thrown) {
    throw new RondoError(
      "stream_error",
      `${provider} sent a stream event that is not JSON: ${text.slice(0, 200)}`,
      {
        raw: cutRaw(text),
        cause: thrown,
      },
    );
  }
  const object = objectIn(value);
  if (object === undefined)
    throw new RondoError(
      "stream_error",
      `${provider} sent a stream event that is no JSON object: ${text.slice(0, 200)}`,
      {
        raw: cutRaw(text),
      },
    );
  return object;
}

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
    let event: JsonObject | undefined;
    try {
      event = error ?? frameObject(frame, this.#provider, this.#frames);
    } catch (thrown) {
      const glued = gluedIn(data);
      if (glued === undefined) throw thrown;
      for (const piece of glued) this.push({ event: undefined, data: piece });
      return;
    }
    if (event === undefined) return;
    this.event(event, isErrorEvent(frame.event) ? "error" : frame.event);
    this.frameTemplate = this.again && this.#frames.frameTemplate(this.again);
  }
}

export function anthropicWhole(body: Json, target: Target, emit: Emit): AssistantMessage {
  const given = objectIn(body);
  // Some gateways wrap the answer in an envelope of their own.
  const inner = objectIn(given?.data);
  const message = given?.content === undefined && inner?.content !== undefined ? inner : given;
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
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (objectIn(content) !== undefined) return [content as Json];
  return content === null && type === "message" && typeof stop_reason === "string" ? [] : undefined;
}
