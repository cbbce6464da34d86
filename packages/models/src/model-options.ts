// The room of a model's options: what may be said of any provider's model, and how that is checked before a model is made of it.
//
// An option that is misspelt would otherwise be none: a key would go to another server than the one that was meant.

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
  text,
} from "@rondo/core/checks";
import type { Codec, Frame, Target, WireRequest } from "./codec.ts";
import { type CredentialCallback, type Credentials, secretText, secretTexts } from "./credentials.ts";
import type { HttpClient, HttpClocks } from "./transport/http.ts";
import type { FetchLike } from "./transport/http-fetch.ts";

/** A request as it is about to leave, for whoever signs it. */
export interface Outgoing {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Turns credentials into headers. May look at the whole request, as a signature does. */
export type Authorize = (
  credentials: Credentials,
  outgoing: Outgoing,
) => Record<string, string> | Promise<Record<string, string>>;

/**
 * Sends a request in place of the HTTP client: over a provider's own SDK, from a cassette, in a test. Gives frames as
 * they arrive (see `framesOf` for raw events), or a whole answer as JSON. What it throws becomes the call's error; an
 * error with a `status`, as SDKs throw them, is read as a response.
 */
export type Send = (wire: WireRequest, io: ModelIo) => Promise<AsyncIterable<Frame> | { whole: Json }>;

/** What a user may say of any provider's model. */
export interface ProviderOptions {
  /** The key, as it is. Default: the provider's environment variable, read at each call. */
  apiKey?: string;
  /** Asked before every call, and again once what it gave was refused. Wins over `apiKey` and the environment. */
  credentials?: CredentialCallback;
  /** Where the server is. With or without the version that the path begins with. */
  baseURL?: string;
  /** Sent with every request; they win over the codec's, and a request's own win over them. */
  headers?: Record<string, string>;
  /** Your own fetch. Default: node:http on Node, the global fetch elsewhere. */
  fetch?: FetchLike;
  /** Your own HTTP client. Wins over `fetch`. */
  http?: HttpClient;
  /** Ask for a stream. Default: true. */
  stream?: boolean;
  /** What is known of the model. Member by member it wins over the catalogue. */
  facts?: ModelFacts;
  /** How this server differs from its protocol: see the codec. */
  compat?: { readonly [quirk: string]: Json };
  /** Keep the provider's own answer with each message, as `raw`: the body, or the list of a stream's events. Default: false. */
  keepRaw?: boolean;
  /** This server's own clocks, in milliseconds, e.g. a longer wait for a slow local one. They win over the loop's. */
  clocks?: HttpClocks;
}

/** A codec that is loaded on the first call, so that importing every provider costs no more than importing one. */
export interface LazyCodec {
  /** As in `Origin.api`: known without loading. */
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
  /** Whether the model can be held to a schema, where nobody told it in its facts; or all that is known of its typed outputs. */
  output?: (target: Target) => ModelFacts["output"] | Pick<ModelFacts, "output" | "closedOutput">;
  /** How credentials become headers. Default: `authorization: Bearer`. */
  authorize?: Authorize;
  /** Named when there is no key. */
  keyVariables?: readonly string[];
  /** Reads the key when no option gave one, before every call. */
  environmentKey?: () => Credentials | undefined;
  /** The server wants no key. A key that is given is sent all the same. Default: false. */
  keyless?: boolean;
  send?: Send;
}

/** @throws RondoError `invalid_request` naming the model and the option that cannot be used; it shows no key */
export const checkModelOptions = (given: ModelOptions): void =>
  checkGiven(modelOptions, given, `${given.provider}/${given.model}`);

/** Options that other libraries take with the model. Here they are the agent's, and each of its requests carries them. */
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

/** The address of a server. */
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
    }),
    compat: object,
    keepRaw: flag,
    clocks: membersOf<HttpClocks>({ connectMs: from0, firstByteMs: from0 }),
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
