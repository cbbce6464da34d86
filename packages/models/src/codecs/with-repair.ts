// The room of requests that can be mended: a refusal whose words name something that could be left out.
//
// Only codecs ask here, of the body of a refusal. What then happens, and how often, is decided in the loop.

import { errorWith, type Json, type Repair, type RondoError } from "@rondo/core";
import type { ErrorResponse } from "../codec.ts";
import { jsonOf, objectIn, parseJson, textIn } from "../json-values.ts";
import { complaintOf } from "../refusals/complaint.ts";
import { failsFile, refusesFiles } from "../refusals/files.ts";
import { refusesReasoning } from "../refusals/reasoning.ts";
import { failsGrammar, refusesSchema } from "../refusals/schema.ts";
import { refusedSetting, settingOfField } from "../refusals/settings.ts";

/** The error, with `repair` set when the refusal is about something that could be left out. */
export function withRepair(error: RondoError, { status, body }: ErrorResponse): RondoError {
  const repair = repairIn(error, status, body);
  return repair === undefined ? error : errorWith(error, { repair });
}

/** The same of an error inside of a stream: so do refusals come, where a gateway had begun to answer before it asked. */
export function withStreamRepair(error: RondoError, body: Json): RondoError {
  // Without a code or a status only the words say that it is the request's fault.
  const judged =
    error.kind === "stream_error" ? errorWith(error, { kind: "invalid_request", retryable: false }) : error;
  const said = jsonOf({ error: objectIn(body)?.error ?? body });
  const repaired = withRepair(judged, { status: error.status ?? 400, header: () => null, body: said });
  return repaired.repair === undefined ? error : repaired;
}

function repairIn(error: RondoError, status: number, body: string): Repair | undefined {
  const words = complaintOf(body);
  // What a model cannot do at all it need not do, where a file is in the history, or thinking or a schema was asked for.
  if (error.kind === "capability") {
    if (refusesFiles(words)) return "files";
    if (lacksThinking.test(words)) return "settings.reasoning";
    return refusesSchema(words) ? "schema" : undefined;
  }
  if (status === 500 && failsGrammar(words)) return "schema";
  if (status === 500 && failsFile(words)) return "files";
  // A refusal that a gateway hides behind a status of its own is one all the same.
  if (error.kind !== "invalid_request" || ![400, 404, 412, 422, 500, 502].includes(status)) return undefined;
  if (refusesReasoning(words)) return "reasoning";
  if (refusesFiles(words)) return "files";
  if (refusesSchema(words)) return "schema";
  const param = textIn(objectIn(objectIn(parseJson(body))?.error)?.param);
  return refusedSetting(error.message) ?? (param === undefined ? undefined : settingOfField(param));
}

const lacksThinking: RegExp =
  /not support(?:ed)? (?:thinking|reasoning)|\b(?:thinking|reasoning)(?: level(?: \w+)?)? is not supported/i;
