// The room of credentials: where a key comes from, how it is told to a server, and that it is told to nobody else.
//
// A key is asked for before every call, for a token may have been renewed meanwhile. It is put into headers, never into
// a URL. Everything that leaves here towards a person (errors, their raw bodies) is searched for it first.

import { type Json, messageOf, RondoError } from "@rondo/core";

export interface Credentials {
  apiKey?: string;
  /** Whole headers, for what is no plain key. */
  headers?: Record<string, string>;
  /** Keys to sign with, as every AWS credential provider gives them. Bedrock only. */
  aws?: AwsKeys;
}

export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/**
 * Asked before every call. `refresh` is true once the last token was refused: fetch a new one then, do not give the stored one. What comes
 * back is compared with what was refused; the call is made again, once, only when it differs.
 */
export type CredentialCallback = (need: {
  refresh: boolean;
}) => Credentials | string | Promise<Credentials | string>;

/** Environment variables, e.g. `process.env`. */
export type Environment = { readonly [name: string]: string | undefined };

/** The process's environment, where there is one. */
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

/** The error of a model that has no key. */
export function missingKey(id: string, names: readonly string[]): RondoError {
  const set = names.length === 0 ? "" : `set ${names.join(" or ")} in the environment, or `;
  return new RondoError("auth", `there is no key for ${id}: ${set}pass apiKey to the model`);
}

/** A key as it can stand in a header. */
export function checkedKey(key: string, id: string): string {
  const trimmed = key.trim();
  if (trimmed === "") throw new RondoError("auth", `the key for ${id} is empty`);
  if (/[^\x21-\x7e]/.test(trimmed))
    throw new RondoError(
      "auth",
      `the key for ${id} holds a space, a line break or another character that no key has: was more copied than the key?`,
    );
  return trimmed;
}

/** What is secret among the headers that authorise a request, longest first. */
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
  return [...secrets].sort((a, b) => b.length - a.length);
}

const secretHeader =
  /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key|x-goog-api-key|x-amz-security-token)$/i;

/** A text without these secrets, and without anything that looks like a well-known key. */
export function redacted(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, "[redacted]");
  return clean.replace(wellKnownKeys, "[redacted]");
}

const wellKnownKeys =
  /\b(?:sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{16,}|xai-[A-Za-z0-9]{16,}|(?<=Bearer )[A-Za-z0-9._~+/-]{16,}=*)/g;

/** The same for a value that stands in an error: in its texts, and in the names of its members. */
export function redactedJson(value: Json, secrets: readonly string[]): Json {
  if (typeof value === "string") return redacted(value, secrets);
  if (Array.isArray(value)) return value.map((one) => redactedJson(one, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [redacted(name, secrets), redactedJson(one, secrets)]),
  );
}

/** What the host's own function gives. @throws RondoError `auth` where it fails */
export async function asked(
  credentials: CredentialCallback,
  refresh: boolean,
  id: string,
): Promise<Credentials | string> {
  try {
    return await credentials({ refresh });
  } catch (thrown) {
    if (thrown instanceof RondoError) throw thrown;
    throw new RondoError("auth", `the credentials callback of ${id} failed: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}
