// The room of refusals of something that was not sent, or for lack of something that was.
//
// A backend may add a member to a request on its way, and then refuse it, at random; a gateway may lose the body, or the
// model's name, as some do when they send it again. The same request passes a little later. What was sent is never meant
// here, nor what a gateway calls by another name inside a member.

import { errorWith, type RondoError } from "@rondo/core";
import type { ErrorResponse, WireRequest } from "../codec.ts";
import { objectIn, parseJson, textIn } from "../json-values.ts";
import { anyOf } from "../patterns.ts";
import { complaintOf } from "./complaint.ts";
import { refusedSetting } from "./settings.ts";

const refused: RegExp = /unknown|unsupported|not supported|unrecogni[sz]ed|extra inputs are not permitted/i;
/** What a gateway keeps of a conversation for itself, and has lost: the whole of it was sent. */
const lostResponse: RegExp =
  /\bprevious_response_not_found\b|\bprevious response with id [^{}]{1,120} not found\b/i;
const named: RegExp =
  /\b(?:unknown|unsupported) parameter: [`'"\\]*(\w+)(?![\w.[])|(?<![\w.])(?:\w+\.)*(\w+): extra inputs are not permitted/i;

/** Words for lack of what every request has. A name at the end of a path, or in a phrase, is something else. */
const lacking: RegExp = anyOf(
  "i",
  /\b(?:no|must provide a) (model)s? (?:provided|parameter)\b/,
  /\bmissing (?:required )?(?:parameter|field):? [`'"\\]{0,2}(model|messages|input|contents)[`'"\\]{0,2}(?![\w.[])/,
  /(?:^|["{[:]|\bfield )\s{0,2}[`'"\\]{0,2}(model|messages|input|contents)[`'"\\]{0,2}(?::| is| are| field is)? (?:field )?required\b/,
  /(?:^|: )(contents) is not specified\b/,
);

/**
 * The error; a failure of the server, if it refuses what it added to the request itself, or misses what it was sent. Only for
 * the first refusal of a request, and not about a setting: another one may be about what was left out since.
 */
export function unlessAdded(
  error: RondoError,
  { body: words }: ErrorResponse,
  { body: sent }: WireRequest,
): RondoError {
  if (error.kind !== "invalid_request" || error.repair !== undefined) return error;
  if (refusedSetting(words) !== undefined) return error;
  const fact = addedIn(words, sent) ?? lostIn(words, sent);
  if (fact === undefined) return error;
  return errorWith(error, { kind: "server_error", retryable: true, message: `${error.message} ${fact}` });
}

function addedIn(words: string, sent: string): string | undefined {
  const name = notSent(words, sent);
  return name === undefined
    ? undefined
    : `The request has no "${name}": it was added on the provider's side.`;
}

/** A list must have had something in it. */
function lostIn(words: string, sent: string): string | undefined {
  const name = lacking.exec(complaintOf(words))?.slice(1).find(Boolean)?.toLowerCase();
  if (name === undefined || !new RegExp(`"${name}":(?:"[^"]|\\[\\{)`).test(sent)) return undefined;
  return `The request was sent with its "${name}": it was lost on the way.`;
}

/** The member of a request that a refusal is about, if the request has none of this name. */
function notSent(words: string, sent: string): string | undefined {
  if (lostResponse.test(words))
    return sent.includes('"previous_response_id"') ? undefined : "previous_response_id";
  if (!refused.test(words)) return undefined;
  const param = textIn(objectIn(objectIn(parseJson(words))?.error)?.param);
  // A path is meant as a whole: a gateway may have put under another member what was sent by the name of its end.
  const name =
    param !== undefined && /^\w+(\.\w+)*$/.test(param) ? param : named.exec(words)?.slice(1).find(Boolean);
  return name?.split(".").some((part) => sent.includes(`"${part}"`)) === false ? name : undefined;
}
