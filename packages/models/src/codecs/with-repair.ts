// The room of repairable requests: a refusal whose message names something that could be left out.
//
// Only codecs use this, on the body of a refusal. The loop decides what is done about it, and how often.

import { errorWith, type Json, type Repair, type RondoError } from "@rondo/core";
import type { ErrorResponse } from "../codec.ts";
import { jsonOf, objectIn, parseJson, textIn } from "../json-values.ts";
import { complaintOf } from "../refusals/complaint.ts";
import { failsFile, refusesFiles } from "../refusals/files.ts";
import { refusesReasoning } from "../refusals/reasoning.ts";
import { failsGrammar, refusesSchema } from "../refusals/schema.ts";
import { refusedSetting, settingOfField } from "../refusals/settings.ts";

/** The error, with `repair` set if the refusal is about something that could be left out. */
export function withRepair(error: RondoError, { status, body }: ErrorResponse): RondoError {
  const repair = repairIn(error, status, body);
  return repair === undefined ? error : errorWith(error, { repair });
}

/** The same for an error inside a stream: a gateway may have begun its response before it forwarded the request. */
export function withStreamRepair(error: RondoError, body: Json): RondoError {
  // Without a code or a status, only the message shows that the request is at fault.
  const judged =
    error.kind === "stream_error" ? errorWith(error, { kind: "invalid_request", retryable: false }) : error;
  const said = jsonOf({ error: objectIn(body)?.error ?? body });
  const repaired = withRepair(judged, { status: error.status ?? 400, header: () => null, body: said });
  return repaired.repair === undefined ? error : repaired;
}

function repairIn(error: RondoError, status: number, body: string): Repair | undefined {
  const words = complaintOf(body);
  // If a model lacks a capability, the request may do without it: a file in the history, thinking, or a schema.
  if (error.kind === "capability") {
    if (refusesFiles(words)) return "files";
    if (lacksThinking.test(words)) return "settings.reasoning";
    return refusesSchema(words) ? "schema" : undefined;
  }
  // A filter that objects to a file would object to it in every later request too.
  if (error.kind === "content_filter" && status < 500 && filteredFile.test(words)) return "files";
  if (status === 500 && failsGrammar(words)) return "schema";
  if (status === 500 && failsFile(words)) return "files";
  // Gateways may give a refusal a status of their own, such as 500 or 502.
  if (error.kind !== "invalid_request" || ![400, 403, 404, 412, 422, 500, 502].includes(status))
    return undefined;
  if (refusesReasoning(words)) return "reasoning";
  if (refusesFiles(words)) return "files";
  if (refusesSchema(words)) return "schema";
  const param = textIn(objectIn(objectIn(parseJson(body))?.error)?.param);
  return refusedSetting(error.message) ?? (param === undefined ? undefined : settingOfField(param));
}

/** A filter's words about an image, a sound or a video rather than a text: MiniMax, Alibaba, Volcengine. */
const filteredFile: RegExp =
  /\b(?:images?|audio|videos?)\b[^.{}]{0,20} (?:is|are|may contain|contains?|includes?) (?:sensitive|inappropriate)\b/i;

const lacksThinking: RegExp =
  /not support(?:ed)? (?:thinking|reasoning)|\b(?:thinking|reasoning)(?: level(?: \w+)?)? is not supported/i;
