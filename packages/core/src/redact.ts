// The room of redaction: secrets are removed before a fact is recorded.
//
// They are not removed only on the way to disk. Then the journal would have another text than the model was sent, a replay
// would differ, and a resumed run would continue a conversation that never took place. A fact is redacted when it enters the
// loop, so the journal, the model, the digest of the request and every later resume have the same text.
//
// A tool's output is hostile input: every pattern here takes time linear in the length of the text, whatever it contains.

import { anything, type Check, flag, listOf, membersOf, text } from "./checks.ts";
import { invalidRequest } from "./errors.ts";
import type { RondoEvent } from "./events.ts";
import { base64 } from "./json/base64.ts";
import { endReasons, type Fact } from "./loop/records.ts";
import type { Json, JsonObject } from "./message.ts";
import type { Settings } from "./model.ts";

export interface RedactOptions {
  /** Values to remove: keys, passwords, tokens; each of at least 4 characters. Also found as JSON or a URL would encode them, and those of at least 8 bytes in base64. */
  secrets?: readonly string[];
  /**
   * Patterns in addition to the known formats (`sk-…`, `Bearer …`, `AKIA…`, `ghp_…`, `xox…`, private keys and the like).
   * They must be global (`g`) and not sticky (`y`).
   */
  patterns?: readonly RegExp[];
  /** Whether the known formats are looked for. Default: true. */
  knownForms?: boolean;
  /** Keys whose values (strings or lists of strings) are secret in objects and in JSON text (also JSON inside a JSON string), whatever their case, `-` and `_`. Default: {@link secretNames}. */
  names?: readonly string[];
}

/** The check of the options. */
export const redactOptions: Check = membersOf<RedactOptions>({
  secrets: listOf(text),
  patterns: anything,
  knownForms: flag,
  names: listOf(text),
});

export const redacted = "***REDACTED***";

/** Keys whose values are secret by default. */
export const secretNames: readonly string[] = [
  "password",
  "passwd",
  "passphrase",
  "secret",
  "client_secret",
  "secret_key",
  "secret_access_key",
  "aws_secret_access_key",
  "api_key",
  "x_api_key",
  "apikey",
  "access_key",
  "access_token",
  "refresh_token",
  "id_token",
  "auth_token",
  "session_token",
  "bearer_token",
  "private_key",
  "authorization",
  "proxy_authorization",
  "cookie",
  "set_cookie",
];

/** Names of headers whose values grant access. */
export const secretHeader: RegExp =
  /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key|x-goog-api-key|x-amz-security-token)$/i;

/** Each begins with fixed letters, and then accepts one kind of character, so no text can cause backtracking. */
const forms: readonly RegExp[] = [
  // OpenAI, Anthropic and others that use their form.
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])/g,
  /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{30,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{30,}/g,
  /\bglpat-[A-Za-z0-9_-]{20,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /\bnpm_[A-Za-z0-9]{36}/g,
  /\bhf_[A-Za-z0-9]{30,}/g,
  // Groq, xAI, Perplexity, Replicate, Linear, SendGrid.
  /\b(?:gsk_|xai-)[A-Za-z0-9]{16,}/g,
  /\b(?:pplx-|r8_|lin_api_)[A-Za-z0-9]{30,}/g,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g,
  // URLs that anybody who knows them can post to.
  /\bhooks\.slack\.com\/services\/[A-Za-z0-9_/-]{20,}/g,
  /\bdiscord(?:app)?\.com\/api\/webhooks\/\d{5,}\/[A-Za-z0-9_-]{20,}/g,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/g,
  // JSON Web Tokens. A match may begin only at the start of a run of its characters; otherwise a long run would be walked
  // from each `eyJ` in it.
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
];
/** Behind `Bearer`; and behind `Basic` and `Token`, which are words as well, if there is a digit or a `=` in it. */
const bearer =
  /\b(Bearer\s{1,4}|(?:Basic|Token)\s{1,4}(?=[A-Za-z._~+/-]{0,200}[\d=]))[A-Za-z0-9._~+/=-]{16,}/gi;
/** The value of a header that grants access, and of a key in a URL. */
const inHeader =
  /\b((?:x-api-key|api-key|x-goog-api-key|x-amz-security-token)["']?\s{0,4}[:=]\s{0,4}["']?)[A-Za-z0-9._~+/=-]{12,}/gi;
const inQuery =
  /([?&](?:key|api[_-]?key|access_token|auth_token|token|x-amz-security-token|x-amz-signature)=)[A-Za-z0-9._~+/%-]{8,}/gi;
/** The password in a URL. */
const inUrl = /(:\/\/[^\s:/@?#"']{0,200}:)[^\s/@?#"']{1,200}(?=@)/g;

/**
 * Makes the function that removes secrets from facts.
 * @throws RondoError `invalid_request` for a secret that is too short, or a pattern that is not global, or sticky
 */
export function redaction(options: RedactOptions): (fact: Fact) => Fact {
  const named: Way = {
    text: textRedaction(options),
    names: new Set((options.names ?? secretNames).map(plainName)),
    free: false,
  };
  const unnamed: Way = { text: textRedaction({ ...options, names: [] }), names: new Set(), free: true };
  return (fact) => redactValue(fact as unknown as Json, named, unnamed) as unknown as Fact;
}

/**
 * The same for live events that come from no fact: a tool's progress, a warning. Deltas are emitted as they come, because
 * half a secret cannot be recognised.
 */
export function redactEvent(event: RondoEvent, redact: (fact: Fact) => Fact): RondoEvent {
  const clean = (reason: string): string => {
    const fact = { type: "abort_asked", reason } as const;
    return (redact(fact) as typeof fact).reason;
  };
  if (event.type === "warning") return { ...event, message: clean(event.message) };
  if (event.type !== "tool_update") return event;
  const progress = clean(event.progress);
  if (event.details === undefined) return { ...event, progress };
  const result = { content: [], isError: false, details: event.details };
  const { details = null } = (
    redact({ type: "tool_finished", call: event.call.key, result }) as Fact & { type: "tool_finished" }
  ).result;
  return { ...event, progress, details };
}

/** Whether settings contain a secret: they are sent as they were stored, so a key in them would be sent redacted. */
export function holdsSecret(settings: Settings, redact: ((fact: Fact) => Fact) | undefined): boolean {
  const fact: Fact = { type: "opened", by: "", about: { settings } as unknown as JsonObject };
  return redact !== undefined && redact(fact) !== fact;
}

/** The same for one text. */
export function textRedaction(options: RedactOptions): (text: string) => string {
  const { secrets = [], patterns = [], knownForms = true, names = secretNames } = options;
  const values = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < 4)
      throw invalidRequest(
        "option redact.secrets: one has fewer than 4 characters and would take ordinary words out of every text; leave it out",
      );
    for (const form of formsOf(secret)) values.add(form);
  }
  for (const pattern of patterns) {
    if (!pattern.global)
      throw invalidRequest(
        `option redact.patterns: ${String(pattern)} must be global: write ${String(pattern)}g`,
      );
    if (pattern.sticky)
      throw invalidRequest(
        `option redact.patterns: ${String(pattern)} stops at the first place where it does not match: leave out the flag y`,
      );
  }
  // The longest first: one may be the beginning of another.
  const known = [...values].sort((a, b) => b.length - a.length);
  const named = namedIn(names);
  return (given) => {
    let text = given;
    for (const value of known) if (text.includes(value)) text = text.replaceAll(value, redacted);
    if (knownForms) {
      text = withoutPrivateKeys(text);
      for (const form of forms) text = text.replace(form, redacted);
      for (const behind of [bearer, inHeader, inQuery, inUrl])
        text = text.replace(behind, (_, before: string) => before + redacted);
    }
    if (named !== undefined) text = withoutNamed(text, named);
    for (const pattern of patterns) text = text.replace(pattern, redacted);
    return text;
  };
}

/** How a secret may be written in a text. */
function formsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const forUrl = encodeURIComponent(secret.toWellFormed());
  const lower = forUrl.replace(/%../g, (code) => code.toLowerCase());
  return [secret, inJson, inJson.replaceAll("/", "\\/"), forUrl, lower, ...inBase64(secret)];
}

/**
 * The letters of base64 that a secret alone decides, in both alphabets. It may be encoded together with what is before and behind it, so it
 * may begin at each of the three bytes that four letters hold. Of a short secret so few are left that they might stand in any text.
 */
function inBase64(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  if (bytes.length < 8) return [];
  return [0, 1, 2].flatMap((shift) => {
    const shifted = new Uint8Array(shift + bytes.length);
    shifted.set(bytes, shift);
    const letters = base64(shifted).slice(Math.ceil((shift * 4) / 3), Math.floor((shifted.length * 4) / 3));
    return [letters, letters.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, "");

/** `"name": "` or `"name": ["` in JSON text, also in JSON text inside a JSON string, several levels deep: there a quote is `\\"`. */
function namedIn(names: readonly string[]): RegExp | undefined {
  if (names.length === 0) return undefined;
  const any = [...new Set(names.map(plainName))].map((name) =>
    [...name].map((letter) => letter.replace(/[^a-z0-9]/, "\\$&")).join("[-_]?"),
  );
  return new RegExp(`(\\\\{0,15})"(?:${any.join("|")})\\1"\\s{0,8}:\\s{0,8}(\\[${blank})?\\1"`, "gi");
}

/** Between the texts of a JSON list; inside a JSON string a line end is written with letters. */
const blank = String.raw`(?:\s|\\{1,15}[nrt]){0,64}`;
const nextInList = new RegExp(String.raw`${blank},${blank}(\\{0,15})"`, "y");

/** Not a pattern, because where a value ends depends on how often its quotes were escaped. Every character is read once. */
function withoutNamed(text: string, named: RegExp): string {
  let kept = "";
  let from = 0;
  named.lastIndex = 0;
  for (let found = named.exec(text); found !== null; found = named.exec(text)) {
    const [head, slashes = "", list] = found;
    let value: number | undefined = found.index + head.length;
    while (value !== undefined) {
      kept += `${text.slice(from, value)}${redacted}${slashes}"`;
      from = behindValue(text, value, slashes.length);
      value = list === undefined ? undefined : nextValue(text, from, slashes);
    }
    named.lastIndex = from;
  }
  return kept + text.slice(from);
}

/** Where the next text of a list begins, if there is one after the last. */
function nextValue(text: string, from: number, slashes: string): number | undefined {
  nextInList.lastIndex = from;
  const found = nextInList.exec(text);
  return found === null || found[1] !== slashes ? undefined : nextInList.lastIndex;
}

/** @param level how many backslashes are before the quote that ends the value */
function behindValue(text: string, value: number, level: number): number {
  let from = value;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (quote - slashes > from && text[quote - slashes - 1] === "\\") slashes += 1;
    // The outer string has ended, and with it this value.
    if (slashes < level) return quote - slashes;
    if ((slashes - level) % (2 * (level + 1)) === 0) return quote + 1;
    from = quote + 1;
  }
}

const begin = "-----BEGIN ";
const keyHead = /^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/;
const keyEnd = /^-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/;
/** The longest key that is searched for, and how far its end is searched. */
const longestKey = 1 << 15;
/** The characters of a key that was cut off, including line ends as JSON writes them. */
const keyBody = /(?:[A-Za-z0-9+/=\r\n]|\\[nr]){0,32768}/y;

/** Not a pattern: it would walk to the end of the text from every beginning without an end. */
function withoutPrivateKeys(text: string): string {
  let at = text.indexOf(begin);
  if (at < 0) return text;
  let kept = "";
  let from = 0;
  let end = -1;
  while (at >= 0) {
    const head = keyHead.exec(text.slice(at, at + 80))?.[0];
    if (head === undefined) {
      at = text.indexOf(begin, at + begin.length);
      continue;
    }
    const body = at + head.length;
    if (end < body) end = text.indexOf("-----END ", body);
    if (end < 0) end = Number.POSITIVE_INFINITY;
    const foot = end - body > longestKey ? undefined : keyEnd.exec(text.slice(end, end + 80))?.[0];
    keyBody.lastIndex = body;
    kept += text.slice(from, at) + redacted;
    from = foot === undefined ? body + (keyBody.exec(text)?.[0].length ?? 0) : end + foot.length;
    at = text.indexOf(begin, from);
  }
  return kept + text.slice(from);
}

/** How a value is redacted. `free`: it is the user's JSON, whose names have no meaning for the loop. */
interface Way {
  text(text: string): string;
  names: ReadonlySet<string>;
  free: boolean;
}

/** Arguments of a call: the tool needs them, so names are ignored here. Known secrets and known formats are still removed. */
const forTools: ReadonlySet<string> = new Set(["args", "rawArgs"]);
/** JSON of users, models or tools. */
const anybodys: ReadonlySet<string> = new Set([
  "value",
  "about",
  "raw",
  "evidence",
  "providerOptions",
  "details",
]);
/** What the loop and the providers must find unchanged. Schemas name passwords without containing any. */
const untouched: ReadonlySet<string> = new Set(["opaque", "digest", "type", "inputSchema", "schema"]);
/** Members that contain only the loop's own words. A secret that equals one is not removed there. */
const ownWords: ReadonlySet<string> = new Set([
  "role",
  "lane",
  "mode",
  "do",
  "answer",
  "hook",
  "code",
  "kind",
  "wire",
  "effect",
  "permission",
]);

function redactValue(value: Json, way: Way, unnamed: Way): Json {
  if (typeof value === "string") return way.text(value);
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return redactList(value, (item) => redactValue(item, way, unnamed));
  let same = true;
  const entries = Object.entries(value).map(([name, item]): [string, Json] => {
    if (item === undefined || (!way.free && staysAsIs(name, value))) return [name, item as Json];
    const into = wayInto(name, way, unnamed);
    const now =
      holdsText(item) && way.names.has(plainName(name))
        ? secretValue(item, into, unnamed)
        : redactValue(item, into, unnamed);
    if (now !== item) same = false;
    return [name, now];
  });
  if (same) return value;
  // A signature over a text that has changed would be refused by its provider.
  const signed = !way.free && value.type === "reasoning";
  // An own `__proto__` is data: fromEntries makes it an own key.
  return Object.fromEntries(signed ? entries.filter(([name]) => name !== "opaque") : entries);
}

const holdsText = (item: Json): item is string | Json[] => typeof item === "string" || Array.isArray(item);

/** The value under the name of a secret: a string, or each string of a list. */
function secretValue(item: string | Json[], way: Way, unnamed: Way): Json {
  if (typeof item === "string") return redacted;
  return redactList(item, (one) => (typeof one === "string" ? redacted : redactValue(one, way, unnamed)));
}

/** The same list if nothing in it changes. */
function redactList(list: Json[], redact: (item: Json) => Json): Json {
  const now = list.map(redact);
  return now.some((item, at) => item !== list[at]) ? now : list;
}

/** The bytes of a file may look like anything. Some reasons are words of the loop, others were written by people. */
const staysAsIs = (name: string, { type, reason }: JsonObject): boolean =>
  untouched.has(name) ||
  ownWords.has(name) ||
  (name === "data" && type === "file") ||
  (name === "reason" && endReasons.some((own) => own === reason));

function wayInto(name: string, way: Way, unnamed: Way): Way {
  if (way.free) return way;
  if (forTools.has(name)) return unnamed;
  return anybodys.has(name) ? { ...way, free: true } : way;
}
