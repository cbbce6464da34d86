// The room of gateways' errors: where in a gateway's error the upstream's error is found.
//
// A gateway reports its own failure ("Provider returned error", status 500) and puts the error it received somewhere beside
// it: as a value, as JSON text in place of the message or after a few words of its own, in a list of attempts, or as Python
// prints an object. If it is missed, an overflow is retried as a server failure, for ever.

import type { Json, JsonObject } from "@rondo/core";
import { listIn, objectEnd, objectIn, parseJson } from "../json-values.ts";

/** Databricks: from a model that it serves from elsewhere. Its words may be all that it holds. */
const databricks = "external_model_message";

/** Members that hold one error body, in the error or around it, most telling first. */
const bodies: readonly string[] = [
  "upstream_error",
  "upstreamError",
  "provider_error",
  "providerError",
  "original_error",
  "originalError",
  databricks,
  "last_error",
  "lastError",
  "raw",
  "responseBody",
  "response_body",
  // SageMaker: from the model's own server.
  "OriginalMessage",
  "cause",
  // Lemonade, within what it calls details.
  "response",
  // Vercel's gateway: the response it could not read.
  "value",
];

/** Members that hold a list of error bodies, one per attempt: the last one is why there were no more attempts. */
const lists: readonly string[] = ["attempts", "errors", "failures", "previous_errors", "details"];

/** A body that replaces the gateway's own error, as a value or as the whole text of its message. */
export function insteadOf(root: JsonObject, said: JsonObject): JsonObject | undefined {
  const quoted = typeof said.message === "string" ? said.message.trim() : "";
  for (const one of [
    said.upstream_error,
    root.upstream_error,
    said.error,
    root.detail,
    // iFlytek's, which has no other text next to it.
    root.header,
    quoted.startsWith("{") ? parseJson(quoted) : undefined,
  ]) {
    const value = objectIn(one);
    if (value !== undefined && (objectIn(value.error) || isWords(value.message))) return value;
  }
  return undefined;
}

/** A body next to the gateway's own error. */
export function besides(root: JsonObject, said: JsonObject): JsonObject | undefined {
  const gateway = objectIn(objectIn(root.providerMetadata)?.gateway);
  const places = [
    said,
    objectIn(said.metadata),
    objectIn(said.details),
    root,
    objectIn(gateway?.routing),
    gateway,
  ];
  for (const place of places)
    for (const member of bodies) {
      const body = bodyIn(place?.[member], member === databricks);
      if (body !== undefined) return body;
    }
  for (const place of places)
    for (const member of lists) {
      const body = listIn(place?.[member])
        .map(attempt)
        .findLast((one) => one !== undefined);
      if (body !== undefined) return body;
    }
  return undefined;
}

/** One attempt, if it says why it failed. Google's details also form a list, but each has a type of its own and none is an attempt. */
function attempt(given: Json): JsonObject | undefined {
  const one = objectIn(given);
  if (one === undefined || one["@type"] !== undefined || isFault(one)) return undefined;
  return isWords(one.error) || isWords(one.message) || objectIn(one.error) !== undefined ? one : undefined;
}

/** Whether an entry of a list is about a place in the request, and not an attempt at sending it. */
export const isFault = (entry: Json): boolean => {
  const one = objectIn(entry);
  return one !== undefined && (Array.isArray(one.loc) || placeOf(one) !== "");
};

/** The place in the request that a fault names; empty if it names none. */
export function placeOf({ param, field, path }: JsonObject): string {
  for (const place of [param, field, path]) if (isWords(place)) return place.trim();
  return "";
}

/** @param bare a message alone is enough */
function bodyIn(given: Json | undefined, bare: boolean): JsonObject | undefined {
  const value = typeof given === "string" ? parseJson(given) : given;
  const one = objectIn(Array.isArray(value) ? value[0] : value);
  return one !== undefined && (isBody(one) || (bare && isWords(one.message))) ? one : undefined;
}

/** Whether an object found inside a text is an error body, and not, say, the arguments of a call. */
const isBody = ({ error, message, code, type, status, error_message }: JsonObject): boolean =>
  objectIn(error) !== undefined ||
  isWords(error) ||
  isWords(error_message) ||
  (isWords(message) && (code ?? type ?? status) !== undefined);

/** How many characters of a message, and objects in it, are searched. */
const longest = 20_000;
const most = 8;

/** The body that a message quotes after words of the gateway's own: as JSON, or as JSON with one more level of escapes. */
export function quotedIn(message: string): JsonObject | undefined {
  const text = message.slice(0, longest);
  if (!text.includes("{")) return undefined;
  return bodyWithin(text) ?? (text.includes("\\") ? bodyWithin(unescaped(text)) : undefined);
}

function bodyWithin(text: string): JsonObject | undefined {
  let at = text.indexOf("{");
  for (let tried = 0; at !== -1 && tried < most; tried++) {
    const end = objectEnd(text, at);
    if (end === -1) return undefined;
    const body = objectIn(parseJson(text.slice(at, end)));
    if (body !== undefined && isBody(body)) return body;
    at = text.indexOf("{", body === undefined ? at + 1 : end);
  }
  return undefined;
}

/** The text with one level of escapes removed: Python's bytes, and JSON that was quoted in JSON. */
const unescaped = (text: string): string =>
  text.replace(/\\(.)/gs, (_whole, one: string) => (one === "n" || one === "r" || one === "t" ? " " : one));

/** Members as Python prints them: `Error code: 400 - {'error': {'code': 'context_length_exceeded', …}}`. */
const printed: RegExp = /'(?:code|type|status)': '([\w.-]{3,60})'/g;
/** A status that the words before it call one. */
const named: RegExp =
  /\b(?:error code|api error|status(?:[ _]?code)?|http(?: status)?(?: code)?|'code')['"]?[:=]? ?([45]\d\d)\b/i;
/** Alibaba's status, which stays in the message when others pass it on: `<400> InternalError.Algo.InvalidParameter: …`. */
const bracketed: RegExp = /<([45]\d\d)> InternalError\./;
/** A status at the start of the message: `429 Too Many Requests`. */
const first: RegExp = /^(?:error:? )?([45]\d\d)(?= |:|$)/i;

/**
 * The name of Amazon's exception, as its clients print it: `An error occurred (ThrottlingException) when calling the …`, or
 * `ThrottlingException: …`.
 */
const exception: RegExp =
  /\bAn error occurred \((\w{3,64})\) when calling the \w|(?:^|: )(?:[\w.]{1,64}[.#])?([A-Za-z]{3,60}Exception): /;

/** Codes that a message contains in the form that a program prints them. */
export function printedCodes(message: string): string[] {
  const text = message.slice(0, longest);
  const [, told, named] = (text.includes("xception") && exception.exec(text)) || [];
  const name = told ?? named;
  const codes = text.includes("{'") ? [...text.matchAll(printed)].map(([, code = ""]) => code) : [];
  return name === undefined ? codes : [...codes, name];
}

/** The status in a message: of the error itself, or of one behind it. */
export function toldStatus(message: string): { status?: number; upstream?: number } {
  const text = message.slice(0, longest);
  const [own, other] = [first.exec(text)?.[1], (named.exec(text) ?? bracketed.exec(text))?.[1]];
  return {
    ...(own === undefined ? {} : { status: Number(own) }),
    ...(other === undefined ? {} : { upstream: Number(other) }),
  };
}

const isWords = (value: Json | undefined): value is string =>
  typeof value === "string" && value.trim() !== "";
