// The room of the Chat Completions codec: OpenAI's older protocol, and the one most other servers speak.

import type { AssistantMessage, Json, ModelEvent, RondoError } from "@rondo/core";
import type { Codec, Decoder, Encoder, ErrorResponse, Target } from "../codec.ts";
import { listIn, objectIn, parseJson } from "../json-values.ts";
import { classifyHttpError } from "../transport/errors.ts";
import { noAnswer } from "./no-answer.ts";
import { refusedAnswer, speaker } from "./openai/errors.ts";
import { settle } from "./openai/settle.ts";
import { FirstChoice, withChoices } from "./openai-chat/chunk.ts";
import { ChatDecoder } from "./openai-chat/decode.ts";
import { ChatEncoder } from "./openai-chat/encode.ts";
import { learned } from "./openai-chat/learn-quirks.ts";
import { withRepair } from "./with-repair.ts";

/** OpenAI Chat Completions, and every server compatible with it; `Target.compat` says how one differs (`OpenaiChatCompat`). */
export const openaiChat: Codec = {
  api: "openai-chat",
  framing: "sse",

  encoder(target: Target): Encoder {
    return new ChatEncoder(target);
  },

  decoder(target: Target, emit: (event: ModelEvent) => void): Decoder {
    return new ChatDecoder(target, emit);
  },

  decodeWhole(body: Json, target: Target, emit: (event: ModelEvent) => void): AssistantMessage {
    const given = objectIn(body);
    const whole = given === undefined ? undefined : withChoices(given);
    const decoder = new ChatDecoder(target, emit);
    const hasChoices = listIn(whole?.choices).length > 0;
    if (whole === undefined)
      throw noAnswer(body, `${speaker(target)} answered with something that is no chat completion`);
    // A status of 200 does not make it an answer: some servers send errors with it, even without an `error` member (F154).
    const isError = !hasChoices && whole.choices === undefined;
    decoder.take(whole, isError);
    // A single chunk is a stream of which no more came.
    return objectIn(new FirstChoice().in(given?.choices)?.delta) === undefined
      ? decoder.endWhole()
      : decoder.end();
  },

  errorOf(response: ErrorResponse): RondoError {
    return withRepair(classifyHttpError(response), response);
  },

  learned,

  answerOf(response: ErrorResponse, target: Target): AssistantMessage | undefined {
    const refused = refusedAnswer(parseJson(response.body) ?? null, target);
    return refused === undefined ? undefined : settle(refused);
  },
};
