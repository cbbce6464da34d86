// The room of what happens to a request on its way: refusals that are about the way, not about the request.
//
// A body is whole JSON when it is sent. If a server could not parse it, a connection or a gateway has cut or changed it; if a
// refusal only repeats its status, a gateway hides a failure behind it. The same request may pass a moment later. An empty
// refusal is not among these: Cerebras refuses fields and long prompts so, every time.

import { anyOf } from "../patterns.ts";
import { type ErrorFacts, readErrorBody } from "./error-body.ts";

/**
 * The server could not parse the request's body. (What it could not parse inside of it, such as the arguments of a call or
 * half a character, is in it every time.)
 */
export const garbledWords: RegExp = anyOf(
  "i",
  /\brequest body is not valid json\b(?![^{}]{0,40}\bsurrogate\b)/,
  /\bcould not parse the json body of your request\b/,
  /\b(?:(?:failed|unable) to|cannot|could not|error) (?:pars|decod)(?:e|ing)? (?:the )?request body\b(?: as json\b)?(?=[.!"'\s]*$|[^{}]{0,20}\b(?:eof|unexpected (?:end|token|character)|expecting|expected (?:value|[`'"]?[,:}\]])|unterminated|invalid character))/,
  /\berror reading (?:the )?request body: (?:client disconnected|unexpected eof|connection reset)\b/,
  /\brequest body must be valid json\b/,
  /\binvalid json in (?:the )?request body\b/,
  // Google's parser; what it does not know in a readable request begins with "Unknown name" or "Invalid value".
  /\binvalid json payload received\. (?:unexpected|expected|unterminated|parsing terminated|closing)\b/,
  /^json decode error\b/,
);

/** What to do about it. */
export const garbledAdvice =
  "It was whole JSON when it was sent: if this repeats, something on the way cuts it, such as a proxy's limit for the size of a body.";

const bareWords: RegExp = anyOf(
  "i",
  /^(?:(?:http|upstream|\w*apicall)[ _]?error: ?)?(?:400:? ?)?bad request[.!]?$/,
  /^provider returned error(?:: "?error"?)?$/,
  /^invalid request data$/,
  /^(?:upstream error|error code|bad response status code):? \(?400\)?(?: \(request id: [^)]*\))?$/,
  /^openai_error$/,
  /^(?:an )?unknown error(?: occurred)?[.!]?$/,
);

/** Codes that say no more than the status. */
const bareCodes =
  /^(?:invalid_request_error|bad[_ ]?request(?:_?error)?|upstream_(?:client_)?error|invalid_?argument|bad_response_status_code)$/i;

/** Whether a 400 says nothing but that it is one: the phrase of the status, or a gateway's words for any failure behind it. */
export const isBare = ({ message, codes }: Pick<ErrorFacts, "message" | "codes">): boolean =>
  bareWords.test(message.trim()) && codes.every((code) => bareCodes.test(code));

/** Whether a refusal has no word at all: its body is empty, or JSON without a message or a code. */
export function isSilent(body: string): boolean {
  const { message, codes, html } = readErrorBody(body);
  return message === "" && !html && codes.every((code) => bareCodes.test(code));
}

/** Whether a refusal has no word of a server: nothing at all, or the page of what stands before it. */
export const isWordless = (body: string): boolean => isSilent(body) || readErrorBody(body).html;

/** What to do about it. */
export const bareAdvice =
  "It names no reason, as gateways do for a failure behind them: if this repeats, send less (fewer tools, settings and files) to find what is refused.";

/** What to do about a 403 that is a web page. */
export const pageAdvice =
  "The page comes from a firewall or a bot check in front of the provider: check the network that the request comes from (a VPN, a proxy, its country) and the base URL.";
