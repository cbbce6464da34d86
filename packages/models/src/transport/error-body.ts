// The room of error bodies: what a provider said, whatever form it used.
//
// Bodies come as `{"error": {…}}`, `{"error": "text"}`, flat, as an array of one (Google), as a proxy's HTML page, as text,
// or not at all. This extracts facts and judges nothing.

import { cutRaw, type Json, type JsonObject } from "@rondo/core";
import { listIn, numberIn, objectIn } from "../json-values.ts";
import { isRequestCode } from "./error-codes.ts";
import {
  besides,
  insteadOf,
  isFault,
  placeOf,
  printedCodes,
  quotedIn,
  toldStatus,
} from "./gateway-errors.ts";
import { codeOfBaseResp } from "./numbered-codes.ts";

/** The facts in an error body. */
export interface ErrorFacts {
  /** The provider's message; the title of an HTML page. Empty if it said nothing. */
  message: string;
  /** Codes, types and status names found, the most telling first, e.g. `insufficient_quota`, `RESOURCE_EXHAUSTED`. */
  codes: string[];
  /** An HTTP status in the body, as in `{"error": {"code": 503}}`. */
  status?: number;
  /** The status of the server behind a gateway, if the gateway reports it besides its own. */
  upstream?: number;
  /** The window in tokens, if a member of the body states it (llama.cpp). */
  window?: number;
  /** The parsed body, if it is JSON. */
  json?: Json;
  /** The body was a web page. */
  html: boolean;
  /** The body, cut to a few kilobytes; never an HTML page. */
  raw?: Json;
}

/** The data of the event that a text begins with. */
const firstEvent: RegExp = /^(?:event:[^\n]*\n)?data:[ \t]*(\{[^\n]*\})\s*(?:\n|$)/;

/** Reads an error body. Takes the body's text or a value already parsed (an error frame in a stream). Never throws. */
export function readErrorBody(body: Json): ErrorFacts {
  if (typeof body !== "string") return factsOf(body);
  const text = body.trim();
  if (text === "") return { message: "", codes: [], html: false };
  if (/^(?:<!doctype\s*html|<html|<\?xml|<head|<body|<center)/i.test(text)) {
    const title = titleOf(text);
    return { message: title, codes: [], html: true, ...(title === "" ? {} : { raw: title }) };
  }
  try {
    // Some send the refusal as an event of the requested stream, whatever the status.
    return factsOf(JSON.parse(firstEvent.exec(text)?.[1] ?? text) as Json);
  } catch {
    const { json: _json, ...quoted } = quoting(text, undefined, 0);
    return { ...quoted, message: joined(cut(text), quoted.message), raw: cutRaw(text) };
  }
}

/** How many errors inside errors are read: gateways are rarely behind more gateways. */
const deepest = 3;

function factsOf(json: Json, depth = 0): ErrorFacts {
  const found = Array.isArray(json) ? (json.find((one) => objectIn(one)) ?? json[0]) : json;
  const root = objectIn(found);
  const raw = rawOf(json);
  if (root === undefined) {
    const message = typeof found === "string" ? cut(found) : "";
    return { message, codes: [], json, html: false, raw };
  }
  const said = errorIn(root);
  const { codes, ...own } = numbersIn(root, said);
  const instead = depth < deepest ? insteadOf(root, said) : undefined;
  if (instead !== undefined) {
    const facts = factsOf(instead, depth + 1);
    return { ...facts, codes: [...facts.codes, ...codes], ...behind(facts), ...own, raw };
  }
  const beside = depth < deepest ? besides(root, said) : undefined;
  const message = messageIn(root, said, beside === undefined);
  const quoted = quoting(words(said.message) ?? message, beside, depth);
  // SageMaker: the status of the model's own server.
  const original = numberIn(root.OriginalStatusCode);
  return {
    ...(original === undefined ? {} : { upstream: original }),
    ...quoted,
    message: joined(message, quoted.message),
    codes: [...quoted.codes, ...codes],
    ...own,
    // Waits and quotas are looked for in both.
    json: quoted.json === undefined ? json : { ...root, behind: quoted.json },
    raw,
  };
}

/** The error inside a body, or else the body itself. */
function errorIn(root: JsonObject): JsonObject {
  return (
    objectIn(Array.isArray(root.error) ? root.error[0] : root.error) ??
    objectIn(root.Error) ??
    // Tencent Cloud's.
    objectIn(objectIn(root.Response)?.Error) ??
    // MiniMax's.
    objectIn(root.base_resp) ??
    // Naver's.
    objectIn(root.status) ??
    root
  );
}

/** Another error that is quoted in the message or that is next to it, and has a message of its own. */
function quoting(message: string, beside: JsonObject | undefined, depth: number): ErrorFacts {
  const quoted = beside ?? (depth < deepest ? quotedIn(message) : undefined);
  if (quoted === undefined) {
    const codes = printedCodes(message);
    return { message: "", codes, ...refusedBehind(codes), ...toldStatus(message), html: false };
  }
  const { status, ...facts } = factsOf(quoted, depth + 1);
  // Gateways put the status before what they quote: `request failed with status 402: {…}`.
  const told = beside === undefined ? toldStatus(message.slice(0, message.indexOf("{"))) : {};
  // A server that names a fault of the request refused it, even if only its gateway's status is left.
  const upstream =
    facts.upstream ??
    status ??
    told.upstream ??
    told.status ??
    (facts.codes.some((code) => isRequestCode(code.toLowerCase())) ? 400 : undefined);
  return upstream === undefined ? facts : { ...facts, upstream };
}

/** Amazon's exception for a fault of the request, in the words of a gateway that failed over it. */
const refusedBehind = (codes: readonly string[]): Pick<ErrorFacts, "upstream"> =>
  codes.some((code) => /exception$/i.test(code) && isRequestCode(code.toLowerCase()))
    ? { upstream: 400 }
    : {};

/** The status of an error that replaces the gateway's own. */
function behind({ status, upstream }: ErrorFacts): Pick<ErrorFacts, "upstream"> {
  const told = upstream ?? status;
  return told === undefined ? {} : { upstream: told };
}

/** Both messages, each once: one may already quote the other as JSON. */
function joined(message: string, more: string): string {
  if (message === "" || more === "") return message || more;
  return message.includes(more) || message.includes(JSON.stringify(more).slice(1, -1))
    ? message
    : cut(`${message}: ${more}`);
}

/** @param said `errorIn(root)` @param raw include the upstream's words as the gateway quotes them */
function messageIn(root: JsonObject, said: JsonObject, raw: boolean): string {
  const message =
    words(said.message) ??
    words(said.Message) ??
    words(root.error_description) ??
    words(root.error) ??
    words(objectIn(root.fault)?.faultstring) ??
    words(root.detail) ??
    words(root.message) ??
    firstDetail(root.detail) ??
    // Mistral puts the list of a 422 into the message; a guardrail puts its findings there.
    firstDetail(objectIn(said.message)?.detail) ??
    words(objectIn(said.message)?.error) ??
    words(objectIn(said.message)?.actionReason) ??
    words(said.msg) ??
    words(said.status_msg) ??
    words(said.error_msg) ??
    words(said.error_message) ??
    words(said.errorMessage) ??
    words(root.errors) ??
    firstDetail(root.errors) ??
    // IONOS'.
    firstDetail(root.messages) ??
    words(root.title) ??
    "";
  // Further details: OpenRouter's upstream error, what MiMo calls a parameter, or Pydantic's list, as Azure passes it on.
  const metadata = objectIn(said.metadata);
  const param = words(said.param);
  const upstream = raw ? words(metadata?.raw) : undefined;
  const more = metadata !== undefined ? upstream : param?.includes(" ") ? param : faultsIn(said.details);
  return cut(more === undefined || message.includes(more) ? message : `${message}: ${more}`);
}

/** The codes of an error, and the numbers that it states: an HTTP status, a window. @param said `errorIn(root)` */
function numbersIn(root: JsonObject, said: JsonObject): Pick<ErrorFacts, "codes" | "status" | "window"> {
  const codes: string[] = [];
  let status: number | undefined;
  for (const value of codePlaces(root, said)) {
    const number = typeof value === "number" ? value : typeof value === "string" ? Number(value) : Number.NaN;
    if (Number.isInteger(number) && number >= 400 && number < 600) status ??= number;
    // Zhipu's own codes: no HTTP status has so many digits.
    else if (Number.isInteger(number) && number >= 1000)
      codes.push(...numberedCode(String(value), root, said));
    else if (typeof value === "string" && value !== "" && value !== "error") codes.push(value);
  }
  const window = numberIn(said.n_ctx);
  return {
    codes,
    ...(status === undefined ? {} : { status }),
    ...(window === undefined ? {} : { window }),
  };
}

/**
 * The code for a number, if it has a meaning. Mistral's has none here: its type says the same in words, and the number means
 * something else at Zhipu.
 */
function numberedCode(number: string, root: JsonObject, said: JsonObject): string[] {
  if (said === root.base_resp) return [codeOfBaseResp(number)];
  return root.object === "error" ? [] : [number];
}

/** What stands where providers put codes and statuses, the most telling first. */
const codePlaces = (root: JsonObject, said: JsonObject): (Json | undefined)[] => [
  // Anthropic's: more exact than its type, and lasting, which its words are not.
  objectIn(said.details)?.error_code,
  said.code,
  said.Code,
  (objectIn(said.innererror) ?? objectIn(said.inner_error))?.code,
  said.type,
  said.__type,
  said.status,
  said.status_code,
  said.statusCode,
  // Ollama: the status of the server behind its cloud.
  said.StatusCode,
  root.StatusCode,
  said.error_code,
  said.error_type,
  said.errorCode,
  said.http_code,
  said.http_status_code,
  // Mistral's: the status that it had answered with.
  said.raw_status_code,
  ...(said === root ? [] : [root.code, root.type, numberIn(root.status), root.statusCode, root.status_code]),
  // OAuth's error code for a token.
  said === root && typeof root.error === "string" && /^[a-z_]{5,40}$/.test(root.error)
    ? root.error
    : undefined,
  // Google's `{"details": [{"reason": "API_KEY_INVALID"}]}`.
  ...listIn(said.details).map((one) => objectIn(one)?.reason),
];

/** How many faults of a list are told. */
const mostFaults = 5;

/** What is wrong, and where, if a list says so of each place: Azure's, with Pydantic's entries or its own. */
function faultsIn(details: Json | undefined): string | undefined {
  const list = listIn(details);
  if (!list.some(isFault)) return undefined;
  const told = list.slice(0, mostFaults).flatMap((one) => firstDetail(one) ?? []);
  return words([...told, ...(list.length > mostFaults ? ["…"] : [])]);
}

/** FastAPI's `{"detail": [{"msg": "…", "loc": […]}]}`, JSON:API's `{"errors": [{"detail": "…"}]}`, or an error under `detail`. */
function firstDetail(detail: Json | undefined): string | undefined {
  const first = objectIn(Array.isArray(detail) ? detail[0] : detail);
  if (first === undefined) return undefined;
  const said =
    words(first.msg) ??
    words(first.message) ??
    words(first.error) ??
    words(first.detail) ??
    words(first.description);
  // "Extra inputs are not permitted" says nothing without the field's location.
  const path = listIn(first.loc)
    .filter((one) => one !== "body")
    .join(".");
  const place = path === "" ? placeOf(first) : path;
  return said === undefined || place === "" || said.includes(place) ? said : `${said}: ${place}`;
}

/** A text that says something. Frameworks that check a request, such as NestJS, give a list of texts. */
function words(value: Json | undefined): string | undefined {
  const isList = Array.isArray(value) && value.every((one) => typeof one === "string");
  const text = isList ? value.join("; ") : value;
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined;
}

function rawOf(json: Json): Json {
  return JSON.stringify(json).length <= 4096 ? json : cutRaw(json);
}

function cut(text: string): string {
  return text.length <= 2000 ? text : `${text.slice(0, 2000)}…`;
}

function titleOf(html: string): string {
  const title = /<title[^>]{0,200}>([^<]{0,300})/i.exec(html.slice(0, 50_000))?.[1] ?? "";
  return title.replace(/\s+/g, " ").trim();
}
