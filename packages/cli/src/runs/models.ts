// The room of the model: which one a run gets, and why.
//
// By name, from a module of the user's own, or by what the environment offers. Otherwise it is the offline model, and
// the command says so: nobody should mistake a planner for a language model.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Model, messageOf } from "@rondo/core";
import { Failure, UsageError } from "../console/failure.ts";

type Environment = { readonly [name: string]: string | undefined };

export interface ChosenModel {
  model: Model;
  /** The value of `--model` that makes the same choice from any folder. */
  name: string;
  /** Why this one, in words. */
  why: string;
}

/**
 * Chooses the model of a run.
 * @param given the value of `--model`
 * @throws UsageError when no model has this name; Failure when its module cannot be used
 */
export async function chooseModel(given: string | undefined, env: Environment): Promise<ChosenModel> {
  if (given !== undefined) return { ...(await modelOf(given, env, "--model")), why: "--model" };
  if (env.RONDO_MODEL)
    return { ...(await modelOf(env.RONDO_MODEL, env, "RONDO_MODEL")), why: "RONDO_MODEL is set" };
  const { chooseModel: choose } = await import("@rondo/models");
  const { model, name, why } = await choose(env);
  return { model, name, why: `${why}; another with --model` };
}

/** @param from where the name came from: `--model`, or a variable */
async function modelOf(
  name: string,
  env: Environment,
  from: string,
): Promise<{ model: Model; name: string }> {
  if (name.trim() === "") throw new UsageError(`${from} needs a name, e.g. offline, or the path of a module`);
  if (isPath(name)) return await modelOfModule(resolve(name));
  const models = await import("@rondo/models");
  if (name === "offline" || name === "offline/planner") return { model: models.offline(), name: "offline" };
  try {
    return { model: await models.modelFromName(name, env), name };
  } catch (thrown) {
    const said = messageOf(thrown);
    const ended = /[.?!]$/.test(said) ? said : `${said}.`;
    throw new UsageError(
      `${from} ${name} cannot be used: ${ended} Also: offline, or the path of a module (./model.ts)`,
      { cause: thrown },
    );
  }
}

/** `./model.ts`, an absolute path, or a name with the extension of a module. */
function isPath(name: string): boolean {
  return /^\.{0,2}[/\\]/.test(name) || /^[A-Za-z]:[\\/]/.test(name) || /\.[cm]?[jt]s$/.test(name);
}

async function modelOfModule(file: string): Promise<{ model: Model; name: string }> {
  if (!existsSync(file)) throw new Failure(`there is no file ${file} to take a model from; see --model`);
  const fails = (why: string, thrown: unknown): Failure =>
    new Failure(`the model of ${file} cannot be used: ${why}`, { cause: thrown });
  let exported: unknown;
  try {
    exported = ((await import(pathToFileURL(file).href)) as { default?: unknown }).default;
  } catch (thrown) {
    throw fails(`${messageOf(thrown)}; \`node ${file}\` shows where`, thrown);
  }
  try {
    const model: unknown = typeof exported === "function" ? await exported() : exported;
    if (!isModel(model))
      throw new TypeError("its default export is neither a Model nor a function that gives one");
    return { model, name: file };
  } catch (thrown) {
    throw fails(messageOf(thrown), thrown);
  }
}

function isModel(value: unknown): value is Model {
  if (typeof value !== "object" || value === null) return false;
  const { call, id, origin } = value as Partial<Model>;
  return typeof call === "function" && typeof id === "string" && typeof origin === "object";
}
