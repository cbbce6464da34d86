// The room of composed hooks: several sets of hooks as one, asked one after the other.
//
// Each hears what those before it have said. What is no answer a hook may give is handed on as it is: whoever asked says what is
// wrong with it.

import type { HookContext, Hooks, PermissionAnswer, StepPlan } from "../hooks.ts";
import { isObject } from "../json/object.ts";
import type { CallResult } from "../loop/records.ts";
import type { ContentPart, Message } from "../message.ts";

/**
 * Several sets of hooks as one. Each place is asked in order:
 *
 * - `permission`: the first `deny` or `stop` stands, else an `ask`, else an `allow`;
 * - `beforeTool`: each is shown the arguments as they are by then; the first result stands;
 * - `afterTool` and `transformContext`: each is shown what the one before it has made;
 * - `prepareStep`: what a later one says stands over what an earlier one said, settings name by name; of tools those that all
 *   of them name; the first `stop` stands;
 * - `onFinish`: the first work stands, and the others are not asked.
 *
 * One that throws is the hook that throws.
 */
export function composeHooks(...all: readonly Hooks[]): Hooks {
  const composed: Hooks = {};
  for (const name of Object.keys(ways) as (keyof Hooks)[]) {
    const asked = all.filter((hooks) => hooks[name] !== undefined);
    // One alone is asked as it is; a place that none of them has is none of the whole.
    if (asked.length === 1) Object.assign(composed, { [name]: asked[0]?.[name]?.bind(asked[0]) });
    else if (asked.length > 1) Object.assign(composed, { [name]: ways[name](asked) });
  }
  return composed;
}

/** How each place is asked, of sets that all have it. */
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
      const { isError = shown.isError } = next;
      said = { ...next, isError };
      shown = { ...shown, content: parts, isError };
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

  onFinish: (all) => async (run, context: HookContext) => {
    for (const hooks of all) {
      const work = await hooks.onFinish?.(run, context);
      if (work !== undefined) return work;
    }
    return undefined;
  },
};

/** What a hook may have said. */
type Said<Name extends keyof Hooks> = Awaited<ReturnType<Required<Hooks>[Name]>>;

/** Answers that wait for what the others say, and then those that do not. */
const strictness: readonly PermissionAnswer[] = ["allow", "ask", "deny", "stop"];

/** A result's content as parts; undefined for what is none. */
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
