// The room of requests that can be mended: a refusal whose words name something that could be left out.
//
// Only codecs ask here, of the body of a refusal. What then happens, and how often, is decided in the loop.

import { errorWith, type RondoError } from "@rondo/core";
import type { ErrorResponse } from "../codec.ts";
import { refusesFiles } from "./refused-files.ts";
import { refusesReasoning } from "./refused-reasoning.ts";
import { refusedSetting } from "./refused-settings.ts";

/** Characters: a body may repeat the request, and what people wrote there is no complaint. */
const head = 2000;

/** The error, with `repair` set when the refusal is about something that could be left out. */
export function withRepair(error: RondoError, { status, body }: ErrorResponse): RondoError {
  if (error.kind !== "invalid_request" || ![400, 404, 422].includes(status)) return error;
  const words = body.slice(0, head);
  const repair = refusesReasoning(words)
    ? "reasoning"
    : refusesFiles(words)
      ? "files"
      : refusedSetting(error.message);
  return repair === undefined ? error : errorWith(error, { repair });
}
