// The room of error bodies: what a provider said, whatever shape it said it in.
//
// Bodies come as `{"error": {…}}`, `{"error": "text"}`, flat, as an array of one (Google), as an HTML page of a proxy,
// as text, or not at all. This reads facts out of them and judges nothing.

import { cutRaw, type Json, type JsonObject } from "@rondo/core";

/** What an error body says, as far as it says anything. */
export interface ErrorFacts {
  /** The provider's words; for an HTML page its title. Empty when it said nothing. */
  message: string;
  /** Codes, types and status words found, most telling first, e.g. `insufficient_quota`, `RESOURCE_EXHAUSTED`. */
  codes: string[];
  /** An HTTP status that stands in the body, as in `{"error": {"code": 503}}`. */
  status?: number;
  /** The body parsed, where it is JSON. */
  json?: Json;
  /** The body was a web page. */
  html: boolean;
  /** The body cut to a few kilobytes; never a web page. */
  raw?: Json;
}

/** The first event of a stream. */
const event: RegExp = /^(?:event:[^\n]*\n)?data:[ \t]*(\{[^\n]*\})\s*(?:\n|$)/;

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
    // Some refuse in the form of the stream that was asked for, whatever their status says.
    return factsOf(JSON.parse(event.exec(text)?.[1] ?? text) as Json);
  } catch {
    return { message: cut(text), codes: [], html: false, raw: cutRaw(text) };
  }
}

function factsOf(json: Json, depth = 0): ErrorFacts {
  const root = Array.isArray(json) ? (json.find((one) => isObject(one)) ?? json[0] ?? null) : json;
  const raw = rawOf(json);
  if (!isObject(root)) {
    const message = typeof root === "string" ? cut(root) : "";
    return { message, codes: [], json, html: false, raw };
  }
  const given = Array.isArray(root.error) ? root.error[0] : root.error;
  const inner = isObject(given) ? given : undefined;
  // A proxy may put the upstream's own body into a string: OpenRouter's `metadata.raw`, Groq's and LiteLLM's messages.
  const said = inner ?? root;
  const message =
    words(said.message) ??
    words(said.Message) ??
    words(root.error) ??
    words(root.detail) ??
    words(root.message) ??
    firstDetail(root.detail) ??
    // Mistral puts the list of a 422 into the message.
    firstDetail(isObject(said.message) ? said.message.detail : undefined) ??
    words(said.msg) ??
    words(said.error_msg) ??
    words(said.error_message) ??
    firstDetail(root.errors) ??
    "";
  // Whatever else was said: OpenRouter's upstream, or what MiMo calls a parameter.
  const param = words(said.param);
  const more = isObject(said.metadata) ? words(said.metadata.raw) : param?.includes(" ") ? param : undefined;
  const codes: string[] = [];
  let status: number | undefined;
  const innerError = isObject(said.innererror)
    ? said.innererror
    : isObject(said.inner_error)
      ? said.inner_error
      : undefined;
  for (const value of [
    said.code,
    innerError?.code,
    said.type,
    said.__type,
    said.status,
    said.status_code,
    said.error_code,
    said.http_code,
    inner === undefined ? undefined : root.code,
    inner === undefined ? undefined : root.type,
    ...detailReasons(said.details),
  ]) {
    const number = typeof value === "number" ? value : typeof value === "string" ? Number(value) : Number.NaN;
    if (Number.isInteger(number) && number >= 400 && number < 600) status ??= number;
    else if (typeof value === "string" && value !== "" && value !== "error") codes.push(value);
  }
  const upstream = depth < 3 ? handedOn(root, said) : undefined;
  if (upstream !== undefined) {
    const facts = factsOf(upstream, depth + 1);
    status ??= facts.status;
    return { ...facts, codes: [...facts.codes, ...codes], ...(status === undefined ? {} : { status }), raw };
  }
  return {
    message: more === undefined || message.includes(more) ? cut(message) : cut(`${message}: ${more}`),
    codes,
    ...(status === undefined ? {} : { status }),
    json,
    html: false,
    raw,
  };
}

/** The body of whoever stands behind a gateway, which says more than the gateway does: as a value, or as text in place of a message. */
function handedOn(root: JsonObject, said: JsonObject): JsonObject | undefined {
  const quoted = words(said.message);
  for (const one of [said.upstream_error, root.upstream_error, said.error, quoted]) {
    const value = one === quoted && quoted?.startsWith("{") ? jsonOf(quoted) : one;
    if (isObject(value) && (isObject(value.error) || words(value.message) !== undefined)) return value;
  }
  return undefined;
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Google's `{"details": [{"reason": "API_KEY_INVALID"}]}`. */
function detailReasons(details: Json | undefined): (Json | undefined)[] {
  return Array.isArray(details) ? details.map((one) => (isObject(one) ? one.reason : undefined)) : [];
}

/** FastAPI's `{"detail": [{"msg": "…", "loc": […]}]}`, or an error under `detail`. */
function firstDetail(detail: Json | undefined): string | undefined {
  const first = Array.isArray(detail) ? detail[0] : detail;
  if (!isObject(first)) return undefined;
  const said = words(first.msg) ?? words(first.message) ?? words(first.error);
  // "Extra inputs are not permitted" says nothing without the place.
  const place = (Array.isArray(first.loc) ? first.loc : []).filter((one) => one !== "body").join(".");
  return said === undefined || place === "" || said.includes(place) ? said : `${said}: ${place}`;
}

function words(value: Json | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
