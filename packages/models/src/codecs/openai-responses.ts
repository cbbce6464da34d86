// The room of the Responses codec: OpenAI's newer protocol, stateless by default.

import type { AssistantMessage, Json, JsonObject, ModelEvent, RondoError } from "@rondo/core";
import { Answer } from "../answer.ts";
import type { Codec, Decoder, Encoder, ErrorResponse, Target } from "../codec.ts";
import { objectIn } from "../json-values.ts";
import { complaintOf } from "../refusals/complaint.ts";
import { refusesReasoning } from "../refusals/reasoning.ts";
import { classifyHttpError } from "../transport/errors.ts";
import { unwrapped } from "./envelopes.ts";
import { noAnswer } from "./no-answer.ts";
import { speaker, streamError } from "./openai/errors.ts";
import { ResponsesDecoder } from "./openai-responses/decode.ts";
import { ResponsesEncoder } from "./openai-responses/encode.ts";
import { learned } from "./openai-responses/learn-quirks.ts";
import { unmetRequest } from "./openai-responses/requests.ts";
import { withRepair } from "./with-repair.ts";

/** OpenAI Responses, and servers that speak it (Azure, xAI, LM Studio). */
export const openaiResponses: Codec = {
  api: "openai-responses",
  framing: "sse",

  encoder(target: Target): Encoder {
    return new ResponsesEncoder(target);
  },

  decoder(target: Target, emit: (event: ModelEvent) => void): Decoder {
    return new ResponsesDecoder(target, emit);
  },

  decodeWhole(body: Json, target: Target, emit: (event: ModelEvent) => void): AssistantMessage {
    const given = objectIn(body);
    // Some gateways wrap the answer in an envelope of their own.
    const whole = given && unwrapped(given, isResponse);
    if (whole === undefined)
      throw noAnswer(body, `${speaker(target)} answered with something that is no response`);
    if (!isResponse(whole)) throw streamError(whole, target, new Answer(target, () => {}));
    const decoder = new ResponsesDecoder(target, emit);
    decoder.take(whole);
    return decoder.end();
  },

  errorOf(response: ErrorResponse): RondoError {
    // Copilot answers 401 to an id from another connection: the request must change, not the token.
    const told =
      response.status === 401 && refusesReasoning(complaintOf(response.body)) ? 400 : response.status;
    const refused = { ...response, status: told };
    return withRepair(classifyHttpError(refused), refused);
  },

  learned,
  unmet: unmetRequest,
};

const isResponse = (one: JsonObject): boolean =>
  Array.isArray(one.output) || objectIn(one.output) !== undefined || isResponseStatus(one.status);

/** Without output, only a status makes it a response; other endpoints may send one of their own, such as `ok`. */
const isResponseStatus = (status: Json | undefined): boolean =>
  typeof status === "string" && statuses.has(status);

const statuses: ReadonlySet<string> = new Set([
  "completed",
  "incomplete",
  "failed",
  "cancelled",
  "in_progress",
  "queued",
]);
