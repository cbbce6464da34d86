// The room of a model's options: what can be set for any provider's model, and how that is checked before the model is
// made.
//
// A misspelt option must not be ignored: a key would be sent to a different server than the one that was meant.

import type { Json, ModelFacts, ModelIo } from "@rondo/core";
import {
  able,
  anything,
  type Check,
  callable,
  checkGiven,
  flag,
  from0,
  having,
  listOf,
  membersOf,
  name,
  object,
  oneOf,
  ownMember,
  text,
} from "@rondo/core/checks";
import type { Codec, Frame, Target, WireRequest } from "./codec.ts";
import { chatQuirks } from "./codecs/openai-chat/quirks.ts";
import { quirkChecks } from "./codecs/quirks.ts";
import { type CredentialCallback, type Credentials, secretText, secretTexts } from "./credentials.ts";
import type { HttpClient, HttpClocks } from "./transport/http.ts";
import type { FetchLike } from "./transport/http-fetch.ts";

/** A request about to be sent, as the function that authorises it sees it. */
export interface Outgoing {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Turns credentials into headers. May look at the whole request, as a signature must. */
export type Authorize = (
  credentials: Credentials,
  outgoing: Outgoing,
) => Record<string, string> | Promise<Record<string, string>>;

/**
 * Sends a request in place of the HTTP client, e.g. through a provider's own SDK, or from a recording in a test. Returns
 * frames as they arrive (see `framesOf` for raw SDK events), or a whole answer as JSON. What it throws becomes the call's
 * error; an error with a `status`, as SDKs throw them, is read like an HTTP error response.
 */
export type Send = (wire: WireRequest, io: ModelIo) => Promise<AsyncIterable<Frame> | { whole: Json }>;

/** The options of any provider's model. @typeParam Compat the quirks of its protocol */
export interface ProviderOptions<Compat = { readonly [quirk: string]: Json }> {
  /** The API key. Default: the provider's environment variable, read at each call. */
  apiKey?: string;
  /** Called before every request, and once more if what it returned was refused. Wins over `apiKey` and the environment. */
  credentials?: CredentialCallback;
  /** The server's address, with or without the version segment (`/v1`). */
  baseURL?: string;
  /** Sent with every request. They win over the codec's headers; a single request's own (`settings.headers`) win over them. */
  headers?: Record<string, string>;
  /** Your own fetch. Default: node:http on Node, the global fetch elsewhere. */
  fetch?: FetchLike;
  /** Your own HTTP client. Wins over `fetch`. */
  http?: HttpClient;
  /** Ask for a stream. Default: true. */
  stream?: boolean;
  /** What is known of the model: its window, prices, abilities. Each member wins over the catalogue's. */
  facts?: ModelFacts;
  /** How this server differs from its protocol: the quirks of its codec. */
  compat?: Compat;
  /**
   * Keep the provider's own answer with each message, as `raw`: the response body, or the list of a stream's events.
   * Default: false.
   */
  keepRaw?: boolean;
  /** Timeouts of this server, in milliseconds, e.g. longer ones for a slow local server. They win over the loop's clocks. */
  clocks?: HttpClocks;
}

/** A codec whose code is loaded on the first call, so that importing every provider costs no more than importing one. */
export interface LazyCodec {
  /** As in `Origin.api`; known before the codec is loaded. */
  readonly api: string;
  load(): Promise<Codec>;
}

export interface ModelOptions extends ProviderOptions {
  codec: Codec | LazyCodec;
  /** As in `Origin.provider`. */
  provider: string;
  /** The provider's model id. */
  model: string;
  baseURL: string;
  /** What holds for every model of this provider, member by member, unless the user's options say otherwise. */
  defaults?: { headers?: Readonly<Record<string, string>> } & Pick<ProviderOptions, "facts" | "compat">;
  /**
   * Whether the model's output can be constrained to a schema; or all that is known of its typed output. Used where the
   * model's facts do not say.
   */
  output?: (target: Target) => ModelFacts["output"] | Pick<ModelFacts, "output" | "closedOutput">;
  /** How credentials become headers. Default: `authorization: Bearer`. */
  authorize?: Authorize;
  /** The environment variables that errors about a missing or refused key name. */
  keyVariables?: readonly string[];
  /** Reads the key from the environment, before every call, if no option gave one. */
  environmentKey?: () => Credentials | undefined;
  /** The server needs no key. A given key is sent all the same. Default: false. */
  keyless?: boolean;
  send?: Send;
}

/** A model, in words, for errors: by its provider alone if what was given as its name is none. */
export const modelText = (provider: string, name: unknown): string =>
  typeof name === "string" && name !== "" ? `${provider}/${name}` : provider;

/**
 * The options with the provider's defaults beneath the user's own members. The user's are checked before they are merged:
 * in a spread, a text would become an object of its letters.
 * @throws RondoError `invalid_request` naming the model and the option that cannot be used; it never shows a key
 */
export function checkedOptions(given: ModelOptions): ModelOptions {
  const owner = modelText(given.provider, given.model);
  checkGiven(modelOptions, given, owner);
  const { defaults, ...own } = given;
  const compatOptions = ownMember(compatChecks, own.codec.api);
  if (compatOptions !== undefined) checkGiven(compatOptions, own, owner);
  const { headers, facts, compat } = defaults ?? {};
  return {
    ...own,
    ...(headers === undefined ? {} : { headers: { ...headers, ...own.headers } }),
    ...(facts === undefined ? {} : { facts: { ...facts, ...own.facts } }),
    ...(compat === undefined && own.compat === undefined
      ? {}
      : { compat: withoutNulls({ ...compat, ...own.compat }) }),
  };
}

/** Quirks are looked at once the protocol is known; those of a codec that the user wrote are not. */
const compatChecks: { readonly [api: string]: Check } = Object.fromEntries(
  Object.entries({ ...quirkChecks, "openai-chat": chatQuirks }).map(([api, compat]) => [
    api,
    membersOf<Pick<ProviderOptions, "compat">>({ compat }, [], "let_pass"),
  ]),
);

/** Null is the default: no codec finds it. */
const withoutNulls = (
  compat: NonNullable<ProviderOptions["compat"]>,
): NonNullable<ProviderOptions["compat"]> =>
  Object.fromEntries(Object.entries(compat).filter(([, value]) => value !== null));

/** Options that other libraries set on the model. Here they are set on the agent, and sent with each of its requests. */
const agentOptions: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["temperature", "topP", "topK", "seed", "reasoning", "providerOptions"].map((name) => [
      name,
      `settings: { ${name} }`,
    ]),
  ),
  ...Object.fromEntries(
    ["maxTokens", "max_tokens", "maxOutputTokens"].map((name) => [name, "settings: { maxOutputTokens }"]),
  ),
  ...Object.fromEntries(["reasoningEffort", "thinking"].map((name) => [name, "settings: { reasoning }"])),
  maxRetries: "retry: { attempts }",
  timeout: "clocks: { totalMs }",
};

const agentsWord = (name: string): string | undefined =>
  Object.hasOwn(agentOptions, name)
    ? `it is an option of the agent: new Agent({ ${agentOptions[name]} })`
    : undefined;

/** A server's address: an http or https URL. */
const address: Check = (value) => {
  if (typeof value !== "string") return text(value);
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return undefined;
  const why = url === undefined ? "" : " of a server (it must begin with http:// or https://)";
  const says = `${JSON.stringify(value)} is no URL${why}: give one like "https://api.example.com/v1"`;
  return { at: "", says };
};

const modelOptions = membersOf<ModelOptions>(
  {
    codec: anything,
    provider: text,
    model: name,
    baseURL: address,
    apiKey: secretText,
    credentials: callable,
    headers: secretTexts,
    fetch: callable,
    http: able("an HttpClient (request)", "request"),
    stream: flag,
    facts: membersOf<ModelFacts>({
      contextWindow: from0,
      maxOutputTokens: from0,
      maxInputTokens: from0,
      price: having("a price (input, output)", { input: from0, output: from0 }),
      accepts: listOf(text),
      tools: flag,
      output: oneOf("native", "native_without_tools", "none"),
      closedOutput: flag,
      offersInPlace: flag,
    }),
    compat: object,
    keepRaw: flag,
    clocks: membersOf<HttpClocks>({ connectMs: from0, firstByteMs: from0 }),
    defaults: object,
    output: callable,
    authorize: callable,
    keyVariables: listOf(text),
    environmentKey: callable,
    keyless: flag,
    send: callable,
  },
  ["codec", "provider", "model", "baseURL"],
  agentsWord,
);
