// The room of Ollama's own chat protocol: lines of JSON, arguments as objects, reasoning in a field of its own.
//
// There are few finish reasons, and the content decides with them. If no line has `done`, the answer was cut off, however
// whole it looks.

import {
  type AssistantMessage,
  cutRaw,
  type Json,
  type JsonObject,
  type ModelEvent,
  RondoError,
  type Usage,
} from "@rondo/core";
import { argsIn } from "../answer/call-args.ts";
import type { Answer } from "../answer.ts";
import type { Codec, Decoder, Encoder, ErrorResponse, Frame, Target } from "../codec.ts";
import { parseExact } from "../exact-json.ts";
import { countIn, listIn, objectIn, parsedFrame, parseJson, textIn, writtenIn } from "../json-values.ts";
import { complaintOf } from "../refusals/complaint.ts";
import { refusesAnswerLast } from "../refusals/roles.ts";
import { plainerSchemas } from "../refusals/schema.ts";
import { classifyHttpError, classifyStreamError } from "../transport/errors.ts";
import { isSilent, piecesIn } from "./bare-frames.ts";
import { bareName } from "./bare-name.ts";
import { isFlatError, told } from "./flat-errors.ts";
import { foreignStop } from "./foreign-stops.ts";
import { answerOf } from "./leaks/leaking-answer.ts";
import { typeOfFile } from "./media-types.ts";
import { OllamaEncoder } from "./ollama/encode.ts";
import { settle } from "./openai/settle.ts";
import { callsIn, functionIn, wordsOf } from "./openai-chat/chunk.ts";
import { withRepair, withStreamRepair } from "./with-repair.ts";

/** `POST /api/chat` of Ollama. */
export const ollamaChat: Codec = {
  api: "ollama-chat",
  framing: "ndjson",

  encoder(target: Target): Encoder {
    return new OllamaEncoder(target);
  },

  decoder(target: Target, emit: (event: ModelEvent) => void): Decoder {
    return new OllamaDecoder(target, emit);
  },

  decodeWhole(body: Json, target: Target, emit: (event: ModelEvent) => void): AssistantMessage {
    const decoder = new OllamaDecoder(target, emit);
    decoder.take(body);
    return decoder.end();
  },

  errorOf(response: ErrorResponse): RondoError {
    return withRepair(classifyHttpError(response), response);
  },

  learned({ status, body }: ErrorResponse, { compat }: Target): Target["compat"] {
    if (status !== 400) return undefined;
    const words = complaintOf(body);
    if (compat?.thinkLevels !== false && noLevels.test(words)) return { ...compat, thinkLevels: false };
    // Older versions know one type in each place, and texts only in enums (F137).
    const plainSchemas = plainerSchemas(words, compat?.plainSchemas);
    if (plainSchemas !== undefined) return { ...compat, plainSchemas };
    return compat?.noAssistantLast !== true && refusesAnswerLast.test(words)
      ? { ...compat, noAssistantLast: true }
      : undefined;
  },
};

/** A model without levels of thinking, or a server that only knows on and off. */
const noLevels: RegExp =
  /think value [\\"']*\w+[\\"']* is not supported|cannot unmarshal string into go struct field \w+\.think\b/i;

/** An error whose message is a member's name, as in one version of the server: `{"error parsing tool call": "…"}`. */
function errorOf(body: JsonObject): string | undefined {
  const [[name = "", words] = [], another] = Object.entries(body);
  return another === undefined && /^error\b/.test(name) && typeof words === "string"
    ? `${name}: ${words}`
    : undefined;
}

class OllamaDecoder implements Decoder {
  finished = false;
  readonly #answer: Answer;
  #calls = 0;
  /** The call whose arguments came as a text that is no whole JSON yet. */
  #begun: string | undefined;
  /** How often each call with an id was sent. */
  #told: ReadonlyMap<string, number> = new Map();
  #reason: string | undefined;

  constructor(target: Target, emit: (event: ModelEvent) => void) {
    // A model's thinking, or gpt-oss's channels, are left in the text if the server's own parser does not know them (F236).
    const compat = { thinkTags: "leading", ...target.compat };
    this.#answer = answerOf({ ...target, compat }, emit, bareName);
  }

  push(frame: Frame): void {
    if (isSilent(frame, frame.data)) return;
    const value = parsedFrame({ parse: parseExact }, frame.data);
    const body = objectIn(value);
    const pieces = body === undefined ? piecesIn(value, frame.data.trim()) : undefined;
    if (pieces !== undefined) {
      for (const data of pieces) this.push({ ...frame, data });
      return;
    }
    if (body === undefined)
      throw new RondoError(
        "stream_error",
        `Ollama sent a line that is no JSON object: ${frame.data.slice(0, 120)}`,
        { raw: cutRaw(frame.data) },
      );
    this.take(body);
  }

  /** One line, or a whole answer: they have the same form. */
  take(given: Json): void {
    const body = objectIn(given);
    if (body === undefined)
      throw new RondoError("protocol", "Ollama answered with something that is no object", {
        raw: cutRaw(given),
      });
    const said = told(body.error) ? undefined : errorOf(body);
    const message = objectIn(body.message);
    const isOurs = message !== undefined || body.response !== undefined || body.done !== undefined;
    if (told(body.error) || said !== undefined || (!isOurs && isFlatError(body))) {
      const refused = said === undefined ? body : { ...body, error: said };
      throw withStreamRepair(classifyStreamError(refused), refused);
    }
    const thinking = writtenIn(message?.thinking) || writtenIn(message?.reasoning);
    if (thinking) this.#answer.reasoning("thinking", thinking);
    // `response` is the text on Ollama's other endpoint (`/api/generate`), which some proxies use.
    const generated = objectIn(body.response) === undefined ? body.response : undefined;
    const content = wordsOf(message?.content ?? generated ?? "");
    if (content) this.#answer.text("text", content);
    this.#newCalls(callsIn(message ?? {}).map(objectIn));
    for (const data of [...listIn(message?.images), body.image].map(textIn)) if (data) this.#picture(data);
    this.#answer.count({
      inputTokens: countIn(body.prompt_eval_count),
      outputTokens: countIn(body.eval_count),
    });
    if (body.done !== true) return;
    this.#reason = textIn(body.done_reason);
    this.finished = true;
  }

  end(): AssistantMessage {
    if (!this.finished) throw this.#answer.truncated("Ollama");
    const raw = this.#reason;
    // Servers before 0.1.34 sent no reason: an answer that is done ended normally.
    if (raw === undefined) return settle(this.#answer.finish({ wire: "end_turn" }));
    // Ollama's own reasons are the usual ones: `stop` and `length`. `load` and `unload` come if the request had no prompt.
    const wire = foreignStop(raw);
    if (wire === "error") throw this.#answer.brokenOff(raw);
    return settle(this.#answer.finish({ wire, raw }));
  }

  partial(): AssistantMessage | undefined {
    return this.#answer.partial();
  }

  get usage(): Usage | undefined {
    return this.#answer.usage;
  }

  /** A picture in base64. One that a later line repeats is the same. */
  #picture(data: string): void {
    this.#answer.part(`image/${data}`, {
      type: "file",
      mediaType: typeOfFile({ mediaType: "image/png", data }),
      data,
    });
  }

  /** The calls of one line that are new. Proxies repeat earlier calls in the last line; two equal calls in one line are two. */
  #newCalls(calls: readonly (JsonObject | undefined)[]): void {
    const before = this.#told;
    const inLine = new Map<string, number>();
    for (const call of calls) {
      const told = call && functionIn(call);
      if (call === undefined || told === undefined) continue;
      if (this.#continued(call, told)) continue;
      const said = JSON.stringify([call.id, told.name, argsIn(told, "arguments")]);
      const nth = (inLine.get(said) ?? 0) + 1;
      inLine.set(said, nth);
      if (!textIn(call.id) || nth > (before.get(said) ?? 0)) this.#call(call, told);
    }
    if (inLine.size > 0) this.#told = new Map([...before, ...inLine]);
  }

  #call(call: JsonObject, told: JsonObject): void {
    this.#calls += 1;
    const key = `call/${this.#calls}`;
    this.#answer.call(key, { id: textIn(call.id), name: bareName(textIn(told.name) ?? "") });
    const args = argsIn(told, "arguments") ?? {};
    if (typeof args === "string" && parseJson(args) === undefined) {
      this.#begun = key;
      this.#answer.args(key, args);
      return;
    }
    this.#begun = undefined;
    this.#answer.argsWhole(key, args);
    // Ollama's own calls come in one piece, or not at all.
    this.#answer.callEnd(key);
  }

  /** Docker's Model Runner sends the arguments in pieces of text, and only the first with the call's id and name. */
  #continued(call: JsonObject, told: JsonObject): boolean {
    const more = argsIn(told, "arguments");
    if (this.#begun === undefined || textIn(call.id) || textIn(told.name) || typeof more !== "string")
      return false;
    this.#answer.args(this.#begun, more);
    return true;
  }
}
