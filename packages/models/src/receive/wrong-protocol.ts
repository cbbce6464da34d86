// The room of answers in the wrong protocol, or in plain words: the error says which.
//
// A base URL of the wrong protocol usually refuses the request, but some gateways answer any path in the one protocol they
// speak. To a decoder that is a stream of unknown events, and then the end. Reported as a truncated stream it would be
// retried, and nobody would check the address.

import { cutRaw, type ErrorKind, type Json, type JsonObject, RondoError } from "@rondo/core";
import type { Codec, Target } from "../codec.ts";
import { withStreamRepair } from "../codecs/with-repair.ts";
import { objectIn, parseJson, textIn } from "../json-values.ts";
import { readErrorBody } from "../transport/error-body.ts";
import { classifyStreamError } from "../transport/errors.ts";
import { beginsText } from "./body.ts";

/** How many frames are kept to be looked at: pings may come before the first one with content. */
const headFrames = 3;
/** How many bytes of a body are kept. */
const headBytes = 600;

const fields: readonly string[] = ["data", "event", "id", "retry"];

/** How an answer began. */
export class AnswerHead {
  /** The first frames, or the body. */
  readonly frames: string[] = [];
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  frame(data: string): void {
    if (this.frames.length < headFrames) this.frames.push(data);
  }

  bytes(chunk: Uint8Array): void {
    if (this.frames.length > 0 || this.#length >= headBytes) return;
    // A copy: the chunk's memory may be reused.
    const piece = chunk.slice(0, headBytes - this.#length);
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** Whether it began like text. */
  get isText(): boolean {
    const first = this.#pieces.find(({ length }) => length > 0)?.[0];
    return first !== undefined && beginsText(first);
  }

  /** The words that came in place of events; empty if events came, or nothing. */
  get words(): string {
    if (this.frames.length > 0) return "";
    const utf8 = new TextDecoder();
    const text =
      `${this.#pieces.map((piece) => utf8.decode(piece, { stream: true })).join("")}${utf8.decode()}`.trim();
    // A truncated field name is the beginning of events, too.
    const isField = /^(?:data|event|id|retry)?:/m.test(text) || fields.some((name) => name.startsWith(text));
    return isField ? "" : text;
  }
}

/** The errors of a decoder that understood nothing. */
const notUnderstood: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "stream_truncated",
  "empty_response",
  "stream_error",
  "protocol",
]);

/** Protocol names by the codecs' `api`. */
const titles: { readonly [api: string]: string } = {
  "openai-chat": "OpenAI Chat Completions",
  "openai-responses": "OpenAI Responses",
  "anthropic-messages": "Anthropic Messages",
  "google-generative-ai": "Google Gemini",
  "ollama-chat": "Ollama's own",
  "bedrock-converse": "Amazon's Converse",
};

/** The error of an answer, or a better explanation if nothing of that answer was understood. */
export function explained(thrown: unknown, answerHead: AnswerHead, codec: Codec, target: Target): unknown {
  if (!(thrown instanceof RondoError) || thrown.partial !== undefined || !notUnderstood.has(thrown.kind))
    return thrown;
  const { provider, model } = target.origin;
  const frames = answerHead.frames.map((head) => ({ head, said: parseJson(head) }));
  for (const { head, said } of frames) {
    const spoken = protocolOf(firstIn(said));
    if (spoken === undefined || spoken === codec.api) continue;
    return new RondoError(
      "protocol",
      `${provider}/${model} was asked in the protocol ${titles[codec.api] ?? codec.api} and answered in that of ${titles[spoken]}: put the address of the former into baseURL, or choose the provider that speaks the latter`,
      { raw: cutRaw(head), cause: thrown },
    );
  }
  const told = frames.find(({ said }) => wordsIn(firstIn(said)) !== "")?.said;
  if (told !== undefined && thrown.kind !== "stream_error")
    return withStreamRepair(classifyStreamError(told, { provider: `${provider}/${model}` }), told);
  // For a binary stream, how much of a broken frame was read depends on how the bytes were cut.
  const isText = codec.framing === "sse" || (codec.framing === "aws_event_stream" && answerHead.isText);
  const words = isText ? answerHead.words : "";
  return words === "" ? thrown : classifyStreamError(words, { provider: `${provider}/${model}` });
}

/** The object in a frame or body, or the first one if it is a list. */
const firstIn = (said: Json | undefined): JsonObject | undefined =>
  objectIn(Array.isArray(said) ? said[0] : said);

/** The words in an object that is not an answer in any protocol: an error in a form of its own. */
function wordsIn(value: JsonObject | undefined): string {
  return value === undefined || protocolOf(value) !== undefined ? "" : readErrorBody(value).message;
}

/** The `api` of the protocol that a frame or body belongs to; undefined if nothing shows it. */
function protocolOf(value: JsonObject | undefined): string | undefined {
  if (value === undefined) return undefined;
  const type = textIn(value.type) ?? "";
  if (Array.isArray(value.choices) || textIn(value.object)?.startsWith("chat.completion"))
    return "openai-chat";
  if (type.startsWith("response.") || value.object === "response") return "openai-responses";
  if (/^(?:message_(?:start|delta|stop)|content_block_\w+)$/.test(type)) return "anthropic-messages";
  if (type === "message" && Array.isArray(value.content)) return "anthropic-messages";
  if (Array.isArray(value.candidates) || objectIn(value.usageMetadata) !== undefined)
    return "google-generative-ai";
  if (typeof value.done === "boolean" && (objectIn(value.message) ?? textIn(value.response)) !== undefined)
    return "ollama-chat";
  return undefined;
}
