// The room of model servers on this machine: asked whether they are there, and taken as they are.
//
// Looking asks nothing of anybody else: loopback addresses, or the one the user set for Ollama. A server that does not
// answer at once is not there. Whatever comes of it is said in words, because nobody may wonder which model a run had.

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

/** Where a server may be. */
export interface LocalPlace {
  kind: LocalKind;
  /** Without the version, e.g. `http://127.0.0.1:8080`. */
  baseURL: string;
}

/** A server that answered, and what it has. */
export interface LocalServer extends LocalPlace {
  /** Models that can chat, in the server's order; at least one. */
  models: readonly string[];
}

export interface LocalSearch {
  /** Undefined: none answered with a model. */
  server?: LocalServer;
  /** Which one, or why none, in words. */
  why: string;
}

export interface LocalOptions {
  /** Ends the search. */
  signal?: AbortSignal;
  /** How long a server may take to answer. Default: 400 ms. */
  timeoutMs?: number;
  /** Where to look, the best first. Default: `localPlaces(env)`. */
  places?: readonly LocalPlace[];
  /** Where `OLLAMA_HOST` and its like are looked up. Default: that of the process. */
  env?: Environment;
  /** Default: the client of the other models; an address of this machine is reached past any proxy. */
  http?: HttpClient;
}

/** What people call them. */
const titles: { readonly [K in LocalKind]: string } = {
  ollama: "Ollama",
  llamacpp: "a llama.cpp server",
  lmstudio: "LM Studio",
  vllm: "vLLM",
};

/** Ollama where the environment says, llama.cpp and LM Studio at their usual ports. */
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
 * A model of a server on this machine: tools natively where it takes them, as text where it refuses them or cannot read
 * the model's calls. `baseURL` may be a `LocalServer`'s, without the version.
 * @throws RondoError `invalid_request` for a kind of server there is not; `findLocal` tells which one is there, and its models
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

/** A server is found by where it listens; the protocol is below `/v1`. An address that goes on by itself is left alone. */
const versioned = (baseURL: string): string =>
  /^https?:\/\/[^/?#]+\/?$/i.test(baseURL) ? `${baseURL.replace(/\/$/, "")}/v1` : baseURL;

/** The models there, or why there is none; where nothing runs that goes without saying. */
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

/** The models that can chat; undefined when this is no list of models. */
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
