// The room of errors in the OpenAI protocols: in a stream, in a body with status 200, and in a call that the server
// refused.
//
// What an error means is decided in one place for all providers (the transport); this adds what only a decoder knows: what
// had arrived before it. It also finds the attempted call in Groq's refusal, or the text in place of a forced call: both
// are an answer of the model, not a fault of the request (F151).

import { type AssistantMessage, cutRaw, type Json, RondoError } from "@rondo/core";
import { Answer } from "../../answer.ts";
import type { Target } from "../../codec.ts";
import { objectIn, textIn } from "../../json-values.ts";
import { classifyStreamError } from "../../transport/errors.ts";
import { withStreamRepair } from "../with-repair.ts";
import { freshId, nameTable } from "./names.ts";
import { refusedCalls } from "./refused-calls.ts";

/** The error of an error object inside a successful response. */
export function streamError(body: Json, target: Target, answer: Answer): RondoError {
  return answer.failed(withStreamRepair(classifyStreamError(body, { provider: speaker(target) }), body));
}

export function speaker(target: Target): string {
  return `${target.origin.provider}/${target.origin.model}`;
}

/** The error of a frame that is not a JSON object (F157). */
export function unreadable(data: string, target: Target, answer: Answer): RondoError {
  const words = /^\s*error\b/i.test(data)
    ? data.trim().slice(0, 600)
    : `a frame that is no JSON object: ${data.slice(0, 120)}`;
  const error = new RondoError("stream_error", `the stream of ${speaker(target)} sent ${words}`, {
    raw: cutRaw(data),
  });
  return answer.failed(error);
}

/** What the model wrote is an output that does not fit its schema, and no call, whatever members it has. */
const noOutput: RegExp = /\b(?:generate|validate|generated) JSON\b/i;

/** A call was forced, but the model wrote text instead. */
const noCall: RegExp = /\bdid not call a tool\b/i;

/** OpenAI refuses an answer whose reasoning alone reached the limit: it was truncated before any text. */
const cutBeforeWords: RegExp = /\bbecause max_tokens or model output limit was reached\b/i;

/** The model's answer in a Groq refusal: calls that must not run, or text; undefined if there is neither. */
export function refusedAnswer(body: Json, target: Target, answer?: Answer): AssistantMessage | undefined {
  const error = objectIn(objectIn(body)?.error);
  const said = textIn(error?.failed_generation) ?? "";
  const whole = answer ?? new Answer(target, () => {});
  if (cutBeforeWords.test(textIn(error?.message) ?? ""))
    return whole.finish({ wire: "max_tokens", raw: "length" });
  const isOutput = error?.code === "json_validate_failed" || noOutput.test(textIn(error?.message) ?? "");
  const calls = isOutput ? [] : refusedCalls(said);
  if (calls.length === 0) {
    if (error?.code !== "tool_use_failed" || !noCall.test(textIn(error.message) ?? "")) return undefined;
    if (said !== "") whole.textWhole("text", "text", said);
    return whole.has("text") ? whole.finish({ wire: "end_turn", raw: error.code }) : undefined;
  }
  for (const [at, { name, args }] of calls.entries()) {
    const key = `refused ${at}`;
    whole.call(key, { id: freshId(), name: nameTable(target.origin).own(name) });
    whole.argsWhole(key, args);
    whole.callFault(key, textIn(error?.message) ?? "the server refused the call's arguments");
  }
  return whole.finish({ wire: "tool_use", raw: textIn(error?.code) ?? "tool_use_failed" });
}
