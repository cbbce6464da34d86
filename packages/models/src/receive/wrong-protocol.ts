// The room of answers in the wrong protocol: another protocol's, or words. They are told as what they are.
//
// A base URL of the wrong protocol mostly answers with a refusal, but some gateways answer any path in the one protocol they
// speak. To a decoder that is a stream of events it does not know: nothing, and then the end. That nothing, told as a stream
// that was cut, is tried again, and nobody looks at the address.

import { cutRaw, type ErrorKind, type Json, type JsonObject, RondoError } from "@rondo/core";
import type { Codec, Target } from "../codec.ts";
import { withStreamRepair } from "../codecs/with-repair.ts";
import { objectIn, parseJson, textIn } from "../json-values.ts";
import { readErrorBody } from "../transport/error-body.ts";
import { classifyStreamError } from "../transport/errors.ts";
import { beginsText } from "./body.ts";

/** Frames that are kept to be looked at: before the first that says anything may stand signs of life. */
const headFrames = 3;
/** Bytes that are kept of a body. */
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
    // A copy: the memory of a piece may be used for the next.
    const piece = chunk.slice(0, headBytes - this.#length);
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** Whether it began as text does. */
  get isText(): boolean {
    const first = this.#pieces.find(({ length }) => length > 0)?.[0];
    return first !== undefined && beginsText(first);
  }

  /** The words that came in place of events; empty where events came, or nothing. */
  get words(): string {
    if (this.frames.length > 0) return "";
    const utf8 = new TextDecoder();
    const text =
      `${this.#pieces.map((piece) => utf8.decode(piece, { stream: true })).join("")}${utf8.decode()}`.trim();
    // A name that was cut is the beginning of events, too.
    const isField = /^(?:data|event|id|retry)?:/m.test(text) || fields.some((name) => name.startsWith(text));
    return isField ? "" : text;
  }
}

/** The kinds of error by which a decoder says that it understood nothing. */
const notUnderstood: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "stream_truncated",
  "empty_response",
  "stream_error",
  "protocol",
]);

/** By the codecs' names. */
const titles: { readonly [api: string]: string } = {
  "openai-chat": "OpenAI Chat Completions",
  "openai-responses": "OpenAI Responses",
  "anthropic-messages": "Anthropic Messages",
  "google-generative-ai": "Google Gemini",
  "ollama-chat": "Ollama's own",
  "bedrock-converse": "Amazon's Converse",
};

/** The error of an answer of which nothing was understood, or what better explains it. */
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
  // How much of a broken binary stream was read depends on how it was cut.
  const isText = codec.framing === "sse" || (codec.framing === "aws_event_stream" && answerHead.isText);
  const words = isText ? answerHead.words : "";
  return words === "" ? thrown : classifyStreamError(words, { provider: `${provider}/${model}` });
}

/** The object that a frame or a body is, or the first of those that it lists. */
const firstIn = (said: Json | undefined): JsonObject | undefined =>
  objectIn(Array.isArray(said) ? said[0] : said);

/** The words of an object that is no answer in any protocol: an error in a form of its own. */
function wordsIn(value: JsonObject | undefined): string {
  return value === undefined || protocolOf(value) !== undefined ? "" : readErrorBody(value).message;
}

/** The protocol that a frame or a body is of, by its codec's name; undefined where nothing shows one. */
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
