// The room of model servers on this machine: finding the one that runs, and making a model of it.
//
// The search sends requests only to loopback addresses, and to the one the user set for Ollama. A server that does not
// answer at once counts as absent. The result is always explained: nobody should wonder which model a run used.

import { type Json, longestWait, type Model, messageOf, RondoError } from "@rondo/core";
import { compatibleServers } from "../compat/choose.ts";
import { type Environment, fromEnvironment, processEnvironment } from "../credentials.ts";
import { listIn, objectIn, parseJson, textIn } from "../json-values.ts";
import type { ProviderOptions } from "../model-options.ts";
import { neutralTokens } from "../prompted/control-tokens.ts";
import { nativeOrPrompted } from "../prompted/fallback.ts";
import { promptedJson } from "../prompted/prompted-json.ts";
import { defaultClient } from "../transport/default-client.ts";
import { bodyText, type HttpClient } from "../transport/http.ts";
import { compatibleModel } from "./compatible.ts";
import { directClient, directly } from "./loopback.ts";
import { ollama, ollamaURL } from "./ollama.ts";

export type LocalKind = "ollama" | "llamacpp" | "lmstudio" | "vllm";

/** An address where a server may run. */
export interface LocalPlace {
  kind: LocalKind;
  /** Without the version segment, e.g. `http://127.0.0.1:8080`. */
  baseURL: string;
}

/** A server that answered, and its models. */
export interface LocalServer extends LocalPlace {
  /** Models that can chat, in the server's order; at least one. */
  models: readonly string[];
}

export interface LocalSearch {
  /** Undefined if no server answered with a model. */
  server?: LocalServer;
  /** Which server was found, or why none, as a phrase. */
  why: string;
}

export interface LocalOptions {
  /** Aborts the search. */
  signal?: AbortSignal;
  /** How long a server may take to answer. Default: 400 ms. */
  timeoutMs?: number;
  /** Where to look; the first that answers wins. Default: `localPlaces(env)`. */
  places?: readonly LocalPlace[];
  /** Where `OLLAMA_HOST` and the like are looked up. Default: the process's environment. */
  env?: Environment;
  /** Default: the same client as other models have; loopback addresses are reached without a proxy. */
  http?: HttpClient;
}

/** Their names, for display. */
const titles: { readonly [K in LocalKind]: string } = {
  ollama: "Ollama",
  llamacpp: "a llama.cpp server",
  lmstudio: "LM Studio",
  vllm: "vLLM",
};

/** Ollama at the address in the environment, llama.cpp and LM Studio at their default ports. */
export function localPlaces(env: Environment = processEnvironment()): LocalPlace[] {
  const told = fromEnvironment(env, ["OLLAMA_BASE_URL", "OLLAMA_HOST"]) !== undefined;
  return [
    { kind: "ollama", baseURL: told ? ollamaURL(env) : "http://127.0.0.1:11434" },
    { kind: "llamacpp", baseURL: "http://127.0.0.1:8080" },
    { kind: "lmstudio", baseURL: "http://127.0.0.1:1234" },
  ];
}

/**
 * The first model server that answers on this machine. All are asked at once; the first in the list wins, not the fastest.
 * @throws RondoError `aborted` only
 */
export async function findLocal(options: LocalOptions = {}): Promise<LocalSearch> {
  const { signal, timeoutMs = 400, env = processEnvironment(), http } = options;
  const places = options.places ?? localPlaces(env);
  const looks = places.map((place) =>
    look(place, http ?? directClient(place.baseURL) ?? defaultClient(), timeoutMs, signal),
  );
  const failed: string[] = [];
  for (const [at, asked] of looks.entries()) {
    const found = await asked;
    if (signal?.aborted === true)
      throw new RondoError("aborted", "looking for a model server was aborted", { cause: signal.reason });
    const { kind, baseURL } = places[at] as LocalPlace;
    if ("models" in found)
      return {
        server: { kind, baseURL, models: found.models },
        why: `${titles[kind]} answers at ${baseURL}`,
      };
    failed.push(`${titles[kind]} at ${baseURL}${found.why === undefined ? "" : ` (${found.why})`}`);
  }
  return {
    why: failed.length === 0 ? "there is nowhere to look" : `no model server answers: ${failed.join(", ")}`,
  };
}

/**
 * A model on a local server. Tools are sent natively; if the server refuses them, or cannot parse the model's calls, they
 * are sent as text. `baseURL` may be a `LocalServer`'s, without the version segment.
 * @throws RondoError `invalid_request` for an unknown kind of server; `findLocal` tells which one runs, and its models
 */
export function localModel(kind: LocalKind, model: string, options: ProviderOptions = {}): Model {
  if (!Object.hasOwn(titles, kind))
    throw new RondoError(
      "invalid_request",
      `localModel: one of ${Object.keys(titles).join(", ")} is needed, not ${JSON.stringify(kind)}; chooseModel() takes what is there`,
    );
  if (kind === "ollama") return ollama(model, options);
  const baseURL = versioned(options.baseURL ?? compatibleServers[kind]?.baseURL ?? "");
  const wire = compatibleModel({
    ...options,
    ...directly(options, baseURL),
    baseURL,
    provider: kind,
    model,
  });
  return nativeOrPrompted(wire, neutralTokens(wire), promptedJson(wire, { origin: wire.origin }));
}

/** The base URL of the protocol: `/v1` is added to an address without a path. One with a path is left alone. */
const versioned = (baseURL: string): string =>
  /^https?:\/\/[^/?#]+\/?$/i.test(baseURL) ? `${baseURL.replace(/\/$/, "")}/v1` : baseURL;

/** The server's models, or why there are none; `why` is undefined if nothing listens there. */
async function look(
  place: LocalPlace,
  http: HttpClient,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<{ models: readonly string[] } | { why: string | undefined }> {
  const controller = new AbortController();
  const leave = (): void => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(), Math.min(timeoutMs, longestWait));
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted === true) leave();
  try {
    const root = place.baseURL.replace(/\/(?:v1\/?)?$/, "");
    const response = await http.request({
      method: "GET",
      url: `${root}${place.kind === "ollama" ? "/api/tags" : "/v1/models"}`,
      headers: { accept: "application/json" },
      signal: controller.signal,
      clocks: { connectMs: timeoutMs, firstByteMs: timeoutMs },
    });
    if (response.status !== 200) {
      response.discard();
      return { why: `it answered ${response.status}` };
    }
    const body = parseJson(await bodyText(response, maxListChars));
    const names = body === undefined ? undefined : modelsIn(body, place.kind);
    if (names === undefined) return { why: "what answers there is no model server" };
    return names.length === 0 ? { why: "it has no model" } : { models: names };
  } catch (thrown) {
    if (controller.signal.aborted) return { why: `no answer within ${timeoutMs} ms` };
    return {
      why: thrown instanceof RondoError && thrown.kind === "network" ? undefined : messageOf(thrown),
    };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}

const maxListChars = 4_000_000;

/** The models that can chat; undefined if the body is not a list of models. */
function modelsIn(body: Json, kind: LocalKind): string[] | undefined {
  const object = objectIn(body);
  const list = kind === "ollama" ? object?.models : object?.data;
  if (!Array.isArray(list)) return undefined;
  return listIn(list).flatMap((one) => {
    const model = objectIn(one);
    const name = textIn(kind === "ollama" ? (model?.model ?? model?.name) : model?.id);
    if (name === undefined || name === "") return [];
    const family = textIn(objectIn(model?.details)?.family) ?? "";
    return /embed|rerank/i.test(name) || /bert$/i.test(family) ? [] : [name];
  });
}
