// The room of credentials: where a key comes from, how it is sent to a server, and that nobody else sees it.
//
// Credentials are requested before every call, because a token may have been renewed meanwhile. They go into headers, never
// into a URL. Everything shown to a person (error messages, their raw bodies) is searched for them first.

import { type Json, messageOf, RondoError, redacted, secretHeader } from "@rondo/core";
import { type Check, membersOf } from "@rondo/core/checks";

export interface Credentials {
  apiKey?: string;
  /** Whole headers, if the credentials are not a plain key. */
  headers?: Record<string, string>;
  /** Keys for signing requests, as every AWS credential provider returns them. Bedrock only. */
  aws?: AwsKeys;
}

export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/**
 * Called before every request. `refresh` is true after the last token was refused: fetch a new one then, not the stored
 * one. The result is compared with what was refused; the request is sent once more only if it differs.
 */
export type CredentialCallback = (need: {
  refresh: boolean;
}) => Credentials | string | Promise<Credentials | string>;

/** Environment variables, e.g. `process.env`. */
export type Environment = { readonly [name: string]: string | undefined };

/** The process's environment; empty where there is no process. */
export function processEnvironment(): Environment {
  return typeof process === "undefined" ? {} : (process.env ?? {});
}

/** The first of these variables that is set and not blank. */
export function fromEnvironment(env: Environment, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = env[name]?.trim();
    if (value) return value;
  }
  return undefined;
}

/** The error for a model without a key. */
export function missingKey(id: string, names: readonly string[]): RondoError {
  const set = names.length === 0 ? "" : `set ${names.join(" or ")} in the environment, or `;
  return new RondoError("auth", `there is no key for ${id}: ${set}pass apiKey to the model`);
}

/** The key, trimmed and checked: it must be able to stand in a header. */
export function checkedKey(key: string, id: string): string {
  const trimmed = key.trim();
  if (trimmed === "") throw new RondoError("auth", `the key for ${id} is empty`);
  if (/[^\x21-\x7e]/.test(trimmed))
    throw new RondoError(
      "auth",
      `the key for ${id} holds a space, a line break or another character that no key has: was more than the key copied?`,
    );
  return trimmed;
}

/** The secrets in a request's credentials and headers. */
export function secretsOf(credentials: Credentials, headers: Readonly<Record<string, string>>): string[] {
  const secrets = new Set<string>();
  const add = (value: string): void => {
    const bare = value.replace(/^(?:Bearer|Basic)\s+/i, "");
    if (bare.length >= 6) secrets.add(bare);
  };
  if (credentials.apiKey !== undefined) add(credentials.apiKey);
  for (const value of Object.values(credentials.headers ?? {})) add(value);
  if (credentials.aws !== undefined) {
    add(credentials.aws.secretAccessKey);
    if (credentials.aws.sessionToken !== undefined) add(credentials.aws.sessionToken);
  }
  for (const [name, value] of Object.entries(headers)) if (secretHeader.test(name)) add(value);
  return [...secrets];
}

/** The value of an error without secrets: in its strings and the names of its members, and none under a header's name. */
export function redactedJson(value: Json, redact: (text: string) => string): Json {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((one) => redactedJson(one, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const isSecret = typeof one === "string" && secretHeader.test(name);
      return [redact(name), isSecret ? redacted : redactedJson(one, redact)];
    }),
  );
}

/** The kind of a value, without the value itself: it may be a key. */
const kindOf = (value: unknown): string => {
  if (value === undefined || value === null) return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
};

/** A string of which errors show only the kind. */
export const secretText: Check = (value) =>
  typeof value === "string" ? undefined : { at: "", says: `a text is needed, not ${kindOf(value)}` };

/** Strings by name, of which errors show only names and kinds. */
export const secretTexts: Check = (value) => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { at: "", says: "an object of texts is needed" };
  for (const [name, one] of Object.entries(value)) {
    const fault = secretText(one);
    if (fault !== undefined) return { at: `.${name}`, says: fault.says };
  }
  return undefined;
};

// AWS credential providers return more members than these, e.g. an expiry.
const awsKeys = membersOf<AwsKeys>(
  { accessKeyId: secretText, secretAccessKey: secretText, sessionToken: secretText },
  ["accessKeyId", "secretAccessKey"],
  "let_pass",
);
const parts = { apiKey: secretText, headers: secretTexts, aws: awsKeys };
const credentialParts = membersOf<Credentials>(parts, [], "let_pass");

/**
 * What is wrong with what the host's callback returned. Unchecked, a request would be sent with no credentials, or half of
 * them.
 */
function faultOf(given: unknown): string | undefined {
  if (given === undefined || typeof given === "string") return undefined;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return `a key, or { apiKey, headers, aws }, is needed, not ${Array.isArray(given) ? "a list" : kindOf(given)}`;
  const names = Object.keys(given);
  if (names.length > 0 && !names.some((name) => Object.hasOwn(parts, name)))
    return `it gave ${names.join(", ")}, and apiKey, headers or aws is needed`;
  const fault = credentialParts(given);
  return fault === undefined ? undefined : `option ${fault.at.slice(1)}: ${fault.says}`;
}

/** The credentials from the host's callback. @throws RondoError `auth` if it fails, or returns no credentials */
export async function fromCallback(
  credentials: CredentialCallback,
  need: Parameters<CredentialCallback>[0],
  id: string,
): Promise<Credentials | string> {
  let given: Credentials | string;
  try {
    given = await credentials(need);
  } catch (thrown) {
    if (thrown instanceof RondoError) throw thrown;
    throw new RondoError("auth", `the credentials callback of ${id} failed: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
  const fault = faultOf(given);
  if (fault !== undefined) throw new RondoError("auth", `the credentials callback of ${id}: ${fault}`);
  return given;
}
