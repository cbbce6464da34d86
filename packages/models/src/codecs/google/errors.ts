// The room of Google's errors: the classification that all providers share, plus the few texts that only Google writes.

import { cutRaw, type Json, RondoError } from "@rondo/core";
import type { ErrorResponse, Target } from "../../codec.ts";
import { classifyHttpError, classifyStreamError, type ErrorHints } from "../../transport/errors.ts";
import { withRepair, withStreamRepair } from "../with-repair.ts";

const hints: ErrorHints = { provider: "google" };

/** The typed error of a failed HTTP response. */
export function googleHttpError(response: ErrorResponse): RondoError {
  return withRepair(refined(classifyHttpError(response, hints)), response);
}

/** The typed error of an error object inside a successful response. */
export function googleStreamError(body: Json, target: Target): RondoError {
  return withStreamRepair(refined(classifyStreamError(body, { provider: target.origin.provider })), body);
}

/** A combination of features that the model does not support: retrying never helps, and the form of the request is not at fault. */
const lacking =
  /(?:function calling|tool use|thinking|thinking_?(?:level|budget|config)|multiple tools|penalty|response mime ?type|developer instruction)[^.]{0,80}(?:is|are)(?: not| un) ?(?:supported|enabled)/i;

function refined(error: RondoError): RondoError {
  if (error.kind !== "invalid_request" || !lacking.test(error.message)) return error;
  return new RondoError("capability", error.message, {
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.raw === undefined ? {} : { raw: error.raw }),
    cause: error,
  });
}

/** The error of an event that is not a JSON object. */
export function notJson(data: string, target: Target): RondoError {
  const { provider, model } = target.origin;
  const words = /^error\b/i.test(data)
    ? data
    : `${provider}/${model} sent an event that is no JSON object: ${data.slice(0, 200)}`;
  return new RondoError("stream_error", cutRaw(words, 500) as string, { raw: cutRaw(data) });
}
