// The room of wrappers: the option `adapt`, applied to every model and tool of an agent.
//
// Fallbacks, the model of a fork, the tools of a single run: they are given in several places, and all pass through here.

import { model as modelCheck, tools as toolsCheck } from "../checks/ready-made.ts";
import { type Check, callable, membersOf, wrong } from "../checks.ts";
import { isSameOrigin } from "../message.ts";
import type { Model } from "../model.ts";
import type { Tool } from "../tool.ts";

/** Each function returns a wrapper of what it gets; a model's `id` and `origin`, and a tool's name, must stay the same. */
export interface Adapt {
  /** Called for `model`, each of `fallback` and `models`, and `compaction.model`, also for those of a fork. */
  model?: (model: Model) => Model;
  /** Called for each of `tools`, also for those of a run, a session or a fork. */
  tool?: (tool: Tool) => Tool;
}

/** The check of the option. */
export const adaptOption: Check = membersOf<Adapt>({ model: callable, tool: callable });

/** @throws RondoError `invalid_request` if it returned something else, or changed the identity */
export function adaptedModel(one: Model, adapt: Adapt["model"]): Model {
  if (adapt === undefined) return one;
  const own = adapt(one);
  const said = modelCheck(own);
  if (said !== undefined) throw wrong("adapt.model", `what it gives: ${said.says}`);
  if (own.id !== one.id || !(own.origin === one.origin || isSameOrigin(own.origin, one.origin)))
    throw wrong(
      "adapt.model",
      `it made another model of ${one.id}: its id and its origin must stay as they are`,
    );
  return own;
}

/** @throws RondoError `invalid_request` if it returned something else, or changed the identity */
export function adaptedTool(one: Tool, adapt: Adapt["tool"]): Tool {
  if (adapt === undefined) return one;
  const own = adapt(one);
  const said = toolsCheck([own]);
  if (said !== undefined) throw wrong("adapt.tool", `what it gives: ${said.says}`);
  if (own.name !== one.name)
    throw wrong("adapt.tool", `it made another tool of ${one.name}: its name must stay as it is`);
  return own;
}
