// The room of comparing a refusal with its request: a repair that would not change the request is useless.
//
// The complaint is read without looking at what was sent. The loop sends a request again if an error says how: the same
// request would be refused the same way.

import { errorWith, type ModelRequest, type Repair, type RondoError } from "@rondo/core";
import type { WireRequest } from "../codec.ts";
import { fewerFiles } from "./file-count.ts";
import { saysNothing } from "./files.ts";
import { misnamedFile, refusedFile } from "./request-path.ts";

/** Members and values that are reasoning or request it, in any protocol. Inside strings their quotes are escaped. */
const reasons: RegExp =
  /"\w*(?:reasoning|think|thought)\w*":|:"(?:reasoning|thinking|redacted_thinking)"|<think>/i;

/**
 * The error, with the repair that this very request allows.
 * @param words the body of the refusal
 * @param wire what was sent for `asked`
 * @param encode what would be sent for another request
 */
export function forRequest(
  error: RondoError,
  words: string,
  wire: WireRequest,
  asked: ModelRequest,
  encode: (other: ModelRequest) => WireRequest,
): RondoError {
  const { repair } = error;
  if (repair === "files")
    return errorWith(error, {
      repair: fewerFiles(words, asked.messages) ?? refusedFile(words, wire.body, asked.messages),
    });
  if (repair === undefined && error.kind === "invalid_request" && saysNothing.test(words))
    return errorWith(error, { repair: misnamedFile(asked.messages) });
  const stays =
    (repair === "reasoning" && !reasons.test(wire.body)) ||
    (repair === "schema" && asked.outputSchema === undefined) ||
    (repair?.startsWith("settings.") === true && encode(without(repair, asked)).body === wire.body);
  return stays ? unrepaired(error) : error;
}

/** The request without the setting. (If the server is known not to accept it, it was not sent to begin with.) */
function without(repair: Repair, asked: ModelRequest): ModelRequest {
  const { [repair.slice("settings.".length) as keyof typeof asked.settings]: _, ...settings } =
    asked.settings;
  return { ...asked, settings };
}

/** The error, marked as one that no change to the request can repair. */
export const unrepaired = (error: RondoError): RondoError => errorWith(error, { repair: undefined });
