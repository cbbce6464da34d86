// The room of composed hooks: several sets of hooks combined into one, called one after the other.
//
// Each sees what the hooks before it have changed. An invalid answer is returned unchanged: the driver refuses it, as it
// refuses that of a single hook.

import { checkGiven, needed } from "../checks.ts";
import type { Hooks, PermissionAnswer, StepPlan } from "../hooks.ts";
import { isObject } from "../json/object.ts";
import type { CallResult } from "../loop/records.ts";
import type { ContentPart, Message } from "../message.ts";

/**
 * Combines several sets of hooks into one. For each hook the sets are called in order:
 *
 * - `permission`: the first `deny` or `stop` wins, else an `ask`, else an `allow`;
 * - `beforeTool`: each gets the arguments as the previous one left them; the first result wins;
 * - `afterTool`, `transformContext`: each gets what the previous one returned;
 * - `prepareStep`: the returned objects are merged, later over earlier, settings key by key; `tools` is the intersection of all
 *   lists; the first `stop` wins;
 * - `onFinish`: the first that returns more work wins, and the others are not called.
 *
 * A hook that throws fails like a single one.
 * @throws RondoError `invalid_request` for what is no set of hooks
 */
export function composeHooks(...all: Hooks[]): Hooks {
  for (const hooks of all) checkGiven(setOfHooks, hooks, "composeHooks");
  const composed: Hooks = {};
  for (const name of Object.keys(ways) as (keyof Hooks)[]) {
    // A hook that none of them has must stay undefined: otherwise the driver would call it.
    if (all.some((hooks) => hooks[name] !== undefined)) Object.assign(composed, { [name]: ways[name](all) });
  }
  return composed;
}

const setOfHooks = needed("a set of hooks, or {} for none,", isObject);

/** How each hook is combined, from the sets that may have it. */
const ways: { readonly [Name in keyof Required<Hooks>]: (all: readonly Hooks[]) => Required<Hooks>[Name] } = {
  permission: (all) => async (call, context) => {
    let said: Said<"permission">;
    let strictest = 0;
    for (const hooks of all) {
      const next = await hooks.permission?.(call, context);
      if (next === undefined) continue;
      const rank = strictness.indexOf(isObject(next) ? next.answer : next);
      if (rank > 1 || rank < 0) return next;
      if (said === undefined || rank > strictest) [said, strictest] = [next, rank];
    }
    return said;
  },

  beforeTool: (all) => async (call, context) => {
    let said: Said<"beforeTool">;
    let shown = call;
    for (const hooks of all) {
      const next = await hooks.beforeTool?.(shown, context);
      if (next === undefined) continue;
      if (!isObject(next as unknown) || !("args" in next) || !isObject(next.args)) return next;
      said = next;
      shown = { ...call, args: next.args };
    }
    return said;
  },

  afterTool: (all) => async (call, result, context) => {
    let said: Said<"afterTool">;
    let shown: CallResult = result;
    for (const hooks of all) {
      const next = await hooks.afterTool?.(call, shown, context);
      if (next === undefined) continue;
      const parts = isObject(next as unknown) ? partsOf(next.content) : undefined;
      if (parts === undefined) return next;
      const { isError = shown.isError, done = said?.done } = next;
      said = { ...next, isError, ...(done === undefined ? {} : { done }) };
      shown = { ...shown, content: parts, isError, ...(done === undefined ? {} : { done }) };
    }
    return said;
  },

  prepareStep: (all) => async (step, context) => {
    let plan: StepPlan | undefined;
    for (const hooks of all) {
      const next = await hooks.prepareStep?.(step, context);
      if (next === undefined) continue;
      if (!isObject(next) || "stop" in next) return next;
      plan = plan === undefined ? next : planOf(plan, next);
    }
    return plan;
  },

  transformContext: (all) => async (messages, at) => {
    let said: Message[] | undefined;
    for (const hooks of all) {
      const next = await hooks.transformContext?.(said ?? messages, at);
      if (next === undefined) continue;
      if (!Array.isArray(next)) return next;
      said = next;
    }
    return said;
  },

  onFinish: (all) => async (run, context) => {
    for (const hooks of all) {
      const work = await hooks.onFinish?.(run, context);
      if (work !== undefined) return work;
    }
    return undefined;
  },
};

/** What a hook may return. */
type Said<Name extends keyof Hooks> = Awaited<ReturnType<Required<Hooks>[Name]>>;

/** From the mildest to the strictest. */
const strictness: readonly PermissionAnswer[] = ["allow", "ask", "deny", "stop"];

/** A result's content as parts; undefined for anything else. */
function partsOf(content: string | ContentPart[]): ContentPart[] | undefined {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : undefined;
}

function planOf(plan: StepPlan, next: StepPlan): StepPlan {
  const whole = { ...plan, ...next };
  if (plan.settings !== undefined && next.settings !== undefined)
    whole.settings = { ...plan.settings, ...next.settings };
  if (Array.isArray(plan.tools) && Array.isArray(next.tools)) {
    const named = new Set(next.tools);
    whole.tools = plan.tools.filter((name) => named.has(name));
  }
  return whole;
}
