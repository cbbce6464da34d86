// The room of choosing a model when none was named: what the environment offers, and why it was chosen.
//
// A key chooses its provider; without a key, a model server on this machine if one answers; otherwise the offline model.
// The reason is always reported: nobody should mistake the offline planner for a language model, or send text to a server
// unawares.

import type { Model } from "@rondo/core";
import { compatibleServers } from "../compat/choose.ts";
import { type Environment, processEnvironment } from "../credentials.ts";
import { offline } from "../offline/offline.ts";
import { modelFromName } from "./from-name.ts";
import { findLocal, type LocalSearch, localModel } from "./local.ts";

export interface ModelChoice {
  model: Model;
  /** A name from which `modelFromName` makes this model again; `offline` for the offline model. */
  name: string;
  /** The reason for this choice, as a phrase. */
  why: string;
}

export interface ChooseOptions {
  signal?: AbortSignal;
  /** How to look for a server on this machine. Default: `findLocal`, unless `RONDO_LOCAL` is `off`. */
  find?: (options: { env: Environment; signal?: AbortSignal }) => Promise<LocalSearch>;
}

/** Keys that choose a model by being set, in this order. */
const byKey: readonly { variable: string; name: string }[] = [
  { variable: "ANTHROPIC_API_KEY", name: "anthropic/claude-sonnet-5" },
  { variable: "OPENAI_API_KEY", name: "openai/gpt-5.2" },
  { variable: "GEMINI_API_KEY", name: "google/gemini-flash-latest" },
  { variable: "GOOGLE_API_KEY", name: "google/gemini-flash-latest" },
  { variable: "GOOGLE_GENERATIVE_AI_API_KEY", name: "google/gemini-flash-latest" },
];

/** Keys of providers without an obvious default model: the user has to choose one. */
const otherKeys: readonly { variable: string; provider: string }[] = [
  { variable: "AWS_BEARER_TOKEN_BEDROCK", provider: "bedrock" },
  { variable: "OPENROUTER_API_KEY", provider: "openrouter" },
];

/**
 * The model to use when none was named: by `RONDO_MODEL`, by a key, on a local server, or the offline model.
 * @throws RondoError `invalid_request` when RONDO_MODEL names no model; `aborted`
 */
export async function chooseModel(
  env: Environment = processEnvironment(),
  options: ChooseOptions = {},
): Promise<ModelChoice> {
  const named = env.RONDO_MODEL?.trim();
  if (named === "offline") return { model: offline(), name: named, why: "RONDO_MODEL is set" };
  if (named) return { model: await modelFromName(named, env), name: named, why: "RONDO_MODEL is set" };
  for (const { variable, name } of byKey)
    if (env[variable]?.trim())
      return { model: await modelFromName(name, env), name, why: `${variable} is set` };
  const other = otherKeys.find(({ variable }) => env[variable]?.trim());
  if (other !== undefined)
    return planner(`${other.variable} is set: choose a model, as ${other.provider}/NAME`);
  if (/^(?:off|0|no|false)$/i.test(env.RONDO_LOCAL?.trim() ?? ""))
    return planner(`${keyless(env)}, and RONDO_LOCAL switches local servers off`);
  const { find = findLocal, signal } = options;
  const { server, why } = await find({ env, ...(signal === undefined ? {} : { signal }) });
  const first = server?.models[0];
  if (server === undefined || first === undefined) return planner(`${keyless(env)}, and ${why}`);
  const others = server.models.length - 1;
  return {
    model: localModel(server.kind, first, { baseURL: server.baseURL }),
    name: `${server.kind}/${first}`,
    why: `${keyless(env)}, and ${why}${others === 0 ? "" : ` (with ${others} more model${others === 1 ? "" : "s"})`}`,
  };
}

/** Why no key chose a model: none is set, or the one that is set leaves the model open. */
function keyless(env: Environment): string {
  for (const [provider, { keyVariables }] of Object.entries(compatibleServers)) {
    const variable = keyVariables.find((name) => env[name]?.trim());
    if (variable !== undefined) return `${variable} is set, which chooses no model (${provider}/NAME would)`;
  }
  return "no key is set";
}

function planner(why: string): ModelChoice {
  return { model: offline(), name: "offline", why };
}
