// The room of Google's codec: GenerateContent, as the Gemini API and Vertex AI speak it.
//
// This file only joins the rooms of `google/`: encode (requests), messages (turns), decode (answers, with their calls and
// sources), stops (finish reasons), target (what differs between models), learn-quirks (what refusals teach about that).

import type { AssistantMessage, Json, ModelEvent } from "@rondo/core";
import type { Codec, Decoder, Encoder, Target } from "../codec.ts";
import { GoogleDecoder } from "./google/decode.ts";
import { GoogleEncoder } from "./google/encode.ts";
import { googleHttpError } from "./google/errors.ts";
import { learned, suspected } from "./google/learn-quirks.ts";

export { googleStops } from "./google/stops.ts";
export type { GoogleCompat, GoogleOptions } from "./google/target.ts";

/** GenerateContent over SSE or whole. Quirks of a server: `GoogleCompat`. Options of a request: `GoogleOptions`. */
export const googleGenerativeAi: Codec = {
  api: "google-generative-ai",
  framing: "sse",
  encoder: (target: Target): Encoder => new GoogleEncoder(target),
  decoder: (target: Target, emit: (event: ModelEvent) => void): Decoder => new GoogleDecoder(target, emit),
  decodeWhole(body: Json, target: Target, emit: (event: ModelEvent) => void): AssistantMessage {
    const decoder = new GoogleDecoder(target, emit);
    decoder.takeAll(body);
    return decoder.endWhole();
  },
  errorOf: googleHttpError,
  learned,
  suspected,
};
