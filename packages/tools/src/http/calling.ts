// The room of one HTTP call: from the model's arguments to the text it reads.
//
// Loaded with the first call: Node's HTTP modules are slow to load, and most agents start without them.

import { messageOf, type ToolContext, type ToolResult, textRedaction, toolResult } from "@rondo/core";
import { codeOf, Refusal, shown } from "../reasons.ts";
import { afterMs } from "../timer.ts";
import type { Reach } from "./allowed-hosts.ts";
import { bodyText, encodings } from "./body.ts";
import { type Followed, follow } from "./follow.ts";
import { headerFault } from "./options.ts";
import { forReaders, isPage } from "./page.ts";
import { unwrappedUrl, urlOf } from "./urls.ts";

/** The rules for all calls. */
export interface HttpRules {
  reach: Reach;
  /** The host application's own headers, by origin. */
  own: ReadonlyMap<string, Readonly<Record<string, string>>>;
  maxBytes: number;
  maxRedirects: number;
  timeoutMs: number;
}

export interface HttpArgs {
  method?: string;
  url: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** Leave scripts and style sheets out of a page. */
  isForReading?: boolean;
}

/** Headers that belong to the connection, not to the caller. */
const ofConnection =
  /^(?:host|content-length|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|accept-encoding|http2-settings|proxy-.*)$/;
/** Methods that change nothing. */
const reading: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** Codes of connections that broke, or brought no HTTP, after a request may have been sent on them. */
const afterSending = /^(?:ECONNRESET|EPIPE|ETIMEDOUT|HPE_|Z_|ZSTD_|ERR_STREAM)/;
/** The response headers that are reported. */
const telling = [
  "content-type",
  "content-language",
  "last-modified",
  "etag",
  "location",
  "link",
  "allow",
  "retry-after",
  "www-authenticate",
];

/**
 * Sends what a model asks for, and reports the response.
 * @throws Refusal when it may not be sent, or no response came; the signal's reason when it was aborted
 */
export async function called(args: HttpArgs, rules: HttpRules, context: ToolContext): Promise<ToolResult> {
  context.signal.throwIfAborted();
  const { method = "GET" } = args;
  const url = urlOf(unwrappedUrl(args.url));
  // Models fill in optional arguments.
  const body = args.body === "" && (method === "GET" || method === "HEAD") ? undefined : args.body;
  if (body !== undefined && (method === "GET" || method === "HEAD"))
    throw new Refusal(`a ${method} request has no body`);
  const own = lowerCased(rules.own.get(url.origin) ?? {});
  const headers = {
    accept: "*/*",
    "user-agent": "rondo",
    ...givenHeaders(args.headers ?? {}),
    ...own,
    "accept-encoding": encodings,
  };
  const asked = { method, url, headers, ...(body === undefined ? {} : { body }) };
  const end = new AbortController();
  const stop = (): void => end.abort(context.signal.reason);
  let late = false;
  const timer = afterMs(rules.timeoutMs, () => {
    late = true;
    end.abort();
  });
  context.signal.addEventListener("abort", stop, { once: true });
  try {
    const followed = await follow(asked, rules.reach, rules.maxRedirects, end.signal);
    const told = withoutSecrets(await tell(followed, rules.maxBytes, args.isForReading ?? false), own);
    return toolResult(told, { isError: (followed.response.statusCode ?? 0) >= 400 });
  } catch (thrown) {
    context.signal.throwIfAborted();
    const doubt = reading.has(method) ? "" : "; whether the request had an effect is unknown";
    if (late) throw new Refusal(`no complete answer within ${rules.timeoutMs} ms${doubt}`);
    const code = codeOf(thrown);
    if (thrown instanceof Refusal || code === undefined) throw thrown;
    throw new Refusal(`no answer: ${reasonOf(thrown)}${afterSending.test(code) ? doubt : ""}`);
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener("abort", stop);
  }
}

function givenHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  for (const [name, value] of Object.entries(given)) {
    const fault = headerFault(name, value);
    if (fault !== undefined) throw new Refusal(`header ${shown(name)}: ${fault}`);
    if (ofConnection.test(name.toLowerCase())) throw new Refusal(`header ${name} cannot be set`);
  }
  return lowerCased(given);
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

async function tell(
  { response, url, method }: Followed,
  maxBytes: number,
  isForReading: boolean,
): Promise<string> {
  const { statusCode = 0, statusMessage = "", headers } = response;
  const empty =
    method === "HEAD" || statusCode === 204 || statusCode === 304 || headers["content-length"] === "0";
  if (empty) response.destroy();
  const shaped = isForReading && isPage(headers["content-type"] ?? "") ? forReaders : undefined;
  const text = empty ? "" : await bodyText(response, maxBytes, shaped);
  const lines = [`HTTP ${statusCode} ${statusMessage}`.trimEnd(), `url: ${url.href}`];
  for (const name of telling)
    if (headers[name] !== undefined) lines.push(`${name}: ${String(headers[name])}`);
  if (method === "HEAD" && headers["content-length"] !== undefined)
    lines.push(`content-length: ${headers["content-length"]}`);
  return `${lines.join("\n")}\n\n${text === "" ? "(no body)" : text}`;
}

/** Own headers that are not secret: their values occur in many texts. */
const plain = /^(?:accept|user-agent|content-)/;
/** Shorter values are ordinary words, which occur in many texts. */
const minSecret = 12;

/** A server that echoes the request would show the model our secrets. */
function withoutSecrets(text: string, own: Readonly<Record<string, string>>): string {
  // In "Bearer …" the second word is the secret.
  const secrets = Object.entries(own)
    .filter(([name]) => !plain.test(name))
    .flatMap(([, value]) => [value, ...value.split(/\s+/)])
    .filter((one) => one.length >= minSecret);
  return textRedaction({ secrets, knownForms: false, names: [] })(text);
}

/** If several addresses were tried, the first one's error. */
function reasonOf(thrown: unknown): string {
  const inner = thrown instanceof AggregateError ? thrown.errors[0] : thrown;
  // Node's message is just "aborted".
  if (codeOf(inner) === "ECONNRESET") return "the connection was closed before all of it had come";
  // OpenSSL's own message contains a memory address.
  if (codeOf(inner) === "EPROTO")
    return "no TLS connection could be made: the server may speak plain http at this port, or no TLS that is known here";
  return messageOf(inner) || (codeOf(thrown) ?? "unknown");
}
