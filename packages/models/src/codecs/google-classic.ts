// The room of Google's answers as the plain loop reads them: one text, calls, and one of two stop reasons.
//
// Google's own finish reason is not used: a call makes it `tool_use`, everything else `end_turn`, even a block or an answer
// without candidates. The last of several texts counts, and a part with text is not searched for a call. Ids are generated
// here, because this API may leave them out.

import type { AssistantMessage, Json, ModelEvent } from "@rondo/core";
import { Answer } from "../answer.ts";
import type { Codec, Target } from "../codec.ts";
import { googleStreamError } from "./google/errors.ts";
import { ownName } from "./google/names.ts";
import { usageOf } from "./google/usage.ts";
import type { GoogleAnswer, GoogleFunctionCall } from "./google/wire.ts";
import { googleGenerativeAi } from "./google-generative-ai.ts";

const { suspected: _, ...asEver } = googleGenerativeAi;

/** The codec for whole answers; streams are read as usual. An empty answer proves nothing here: a blocked one is empty, too. */
export const googleClassic: Codec = { ...asEver, decodeWhole: classicAnswer };

function classicAnswer(body: Json, target: Target, emit: (event: ModelEvent) => void): AssistantMessage {
  const given = (typeof body === "object" && body !== null ? body : {}) as GoogleAnswer;
  if (given.error !== undefined && given.error !== null) throw googleStreamError(body, target);
  const [candidate] = Array.isArray(given.candidates) ? given.candidates : [];
  const parts = candidate?.content?.parts;
  let text = "";
  const calls: { call: GoogleFunctionCall; signature: unknown }[] = [];
  // A server in between may put anything in place of a part; only objects count.
  for (const part of Array.isArray(parts) ? parts.filter(isObject) : []) {
    if (typeof part.text === "string" && part.text !== "") text = part.text;
    else if (isObject(part.functionCall))
      calls.push({ call: part.functionCall, signature: part.thoughtSignature });
  }
  const answer = new Answer(target, emit);
  if (text !== "") answer.text("text", text);
  for (const [at, { call, signature }] of calls.entries()) {
    answer.call(at, { id: `call_${hex()}`, name: typeof call.name === "string" ? ownName(call.name) : "" });
    answer.argsWhole(at, call.args ?? {});
    answer.callEnd(at);
    if (typeof signature === "string") answer.attach(at, { opaque: { thoughtSignature: signature } });
  }
  if (given.usageMetadata) answer.count(usageOf(given.usageMetadata));
  const raw = candidate?.finishReason ?? given.promptFeedback?.blockReason;
  return answer.finish({
    wire: calls.length > 0 ? "tool_use" : "end_turn",
    ...(typeof raw === "string" ? { raw } : {}),
  });
}

const isObject = <T>(value: T): value is T & object => typeof value === "object" && value !== null;

/** Eight hexadecimal digits. */
function hex(): string {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  return number.toString(16).padStart(8, "0");
}
