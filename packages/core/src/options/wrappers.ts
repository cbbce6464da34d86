// The room of wrappers: what is put around each of them, whoever brings it.
//
// A fall-back, the model of a fork, the tools of a single run: they are given at several places, and all of them come by here.

import { model as modelCheck, tools as toolsCheck } from "../checks/ready-made.ts";
import { type Check, callable, membersOf, wrong } from "../checks.ts";
import { isSameOrigin } from "../message.ts";
import type { Model } from "../model.ts";
import type { Tool } from "../tool.ts";

/** Each gives the same one with something around it: what it is known by (a model's `id` and `origin`, a tool's name) stays as it is. */
export interface Adapt {
  /** Asked for `model`, those of `fallback` and `models`, and `compaction.model`, also where a fork puts others in their place. */
  model?: (model: Model) => Model;
  /** Asked for each of `tools`, also where a run, a session or a fork puts others in their place. */
  tool?: (tool: Tool) => Tool;
}

/** What the option must be. */
export const adaptOption: Check = membersOf<Adapt>({ model: callable, tool: callable });

/** @throws RondoError `invalid_request` where it became none, or another one */
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

/** @throws RondoError `invalid_request` where it became none, or another one */
export function adaptedTool(one: Tool, adapt: Adapt["tool"]): Tool {
  if (adapt === undefined) return one;
  const own = adapt(one);
  const said = toolsCheck([own]);
  if (said !== undefined) throw wrong("adapt.tool", `what it gives: ${said.says}`);
  if (own.name !== one.name)
    throw wrong("adapt.tool", `it made another tool of ${one.name}: its name must stay as it is`);
  return own;
}
