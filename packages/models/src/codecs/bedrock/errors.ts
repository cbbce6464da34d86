// The room of Bedrock's errors: exceptions named in a header, in a frame's type, or in the body.

import { errorWith, type Json, type RondoError } from "@rondo/core";
import type { ErrorResponse, Frame, Target } from "../../codec.ts";
import { objectIn, textIn } from "../../json-values.ts";
import { classifyHttpError, classifyStreamError, type ErrorHints } from "../../transport/errors.ts";
import { withRepair, withStreamRepair } from "../with-repair.ts";

const hints: ErrorHints = { provider: "bedrock" };

export function bedrockHttpError(response: ErrorResponse): RondoError {
  return withRepair(refined(classifyHttpError(response, hints)), response);
}

/** The error of an exception frame: its type is the frame's event, its body has a message. */
export function bedrockStreamError(frame: Frame, target: Target): RondoError {
  let body: Json = frame.data;
  try {
    body = JSON.parse(frame.data) as Json;
  } catch {
    // Not JSON: the text itself is the message.
  }
  const told = withOriginal(body);
  const error = classifyStreamError(told, { provider: target.origin.provider, code: frame.event });
  return withStreamRepair(refined(error), told);
}

/** The original message of the model behind the service, if any: the service's own words are always the same. */
function withOriginal(body: Json): Json {
  const told = objectIn(body);
  const original = textIn(told?.originalMessage);
  if (told === undefined || !original) return body;
  const message = textIn(told.message);
  return { ...told, message: message ? `${message} ${original}` : original };
}

/** The model's own mistake, reported as a service error: it is retried only as often as any other malformed call. */
function refined(error: RondoError): RondoError {
  const isCall = /invalid sequence as part of ToolUse/i.test(error.message);
  return isCall ? errorWith(error, { kind: "malformed_tool_call", retryable: true }) : error;
}
