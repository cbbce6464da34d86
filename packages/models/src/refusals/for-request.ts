// The room of refusals beside the request they refuse: a repair that would leave it as it is, is none.
//
// What the words complain of is read without a look at what was sent. The loop makes a request again where an error
// says how: the same request would be refused the same way.

import { errorWith, type ModelRequest, type Repair, type RondoError } from "@rondo/core";
import type { WireRequest } from "../codec.ts";
import { fewerFiles } from "./file-count.ts";
import { refusedFile } from "./request-path.ts";

/** Members and values that are reasoning or ask for some, in any protocol. In texts their quotes are escaped. */
const reasons: RegExp =
  /"\w*(?:reasoning|think|thought)\w*":|:"(?:reasoning|thinking|redacted_thinking)"|<think>/i;

/**
 * The error, with its repair as this very request can be repaired.
 * @param words the body of the refusal
 * @param wire what was sent of `asked`
 * @param encode what would be sent of another request
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
  const stays =
    (repair === "reasoning" && !reasons.test(wire.body)) ||
    (repair === "schema" && asked.outputSchema === undefined) ||
    (repair?.startsWith("settings.") === true && encode(without(repair, asked)).body === wire.body);
  return stays ? unrepaired(error) : error;
}

/** The request without the setting. A server that is known not to take it was not sent it to begin with. */
function without(repair: Repair, asked: ModelRequest): ModelRequest {
  const { [repair.slice("settings.".length) as keyof typeof asked.settings]: _, ...settings } =
    asked.settings;
  return { ...asked, settings };
}

/** The error as one that nothing in the request can mend. */
export const unrepaired = (error: RondoError): RondoError => errorWith(error, { repair: undefined });
