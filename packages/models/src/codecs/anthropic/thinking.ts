// The room of Claude's thinking, for both protocols of the family: how it is requested, and the output limit, which
// includes its budget.

import type { Json, JsonObject, Settings } from "@rondo/core";
import type { Target } from "../../codec.ts";
import { numberIn, objectIn } from "../../json-values.ts";
import { fromLow, type Level, learnedLacks, levelFor } from "../levels.ts";
import type { Warn } from "../warn.ts";
import { isThinkingLost } from "./pieces.ts";
import type { Asked } from "./settings.ts";
import type { Traits } from "./traits.ts";

/** The body's members that request thinking. */
export interface Thinking {
  thinking?: JsonObject;
  effort?: string;
}

type Reasoning = Exclude<Settings["reasoning"], "off" | undefined>;

const budgets: { readonly [level in Level]: number } = {
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 24_000,
  // More would leave no room for the answer where the output limit is 64,000.
  xhigh: 32_000,
  max: 32_000,
};

/** In tokens. Smaller budgets are refused. */
const leastBudget = 1024;

/** Whether the body's member `thinking` switches thinking on. */
export function thinks(member: Json | undefined): boolean {
  const type = objectIn(member)?.type;
  return type === "enabled" || type === "adaptive";
}

/** The beta by which a server leaves out earlier thinking that no longer fits the messages before it. */
export const bindingBeta = "thinking-binding-controls-2026-08-01";

/**
 * The body's member `thinking` with the request to leave out earlier thinking that no longer fits. Undefined if it is off, or
 * the caller has decided that.
 * @param binding the host's name for what happens to such thinking
 */
export function unbound(member: Json | undefined, binding: string): JsonObject | undefined {
  const thinking = objectIn(member) ?? { type: "adaptive" };
  if (thinking.block_binding !== undefined || !thinks(thinking)) return undefined;
  return { ...thinking, block_binding: { [binding]: "drop_block" } };
}

/** The effort that corresponds to a budget, for models that take no budget. */
export const effortOf = (budget: number): "low" | "medium" | "high" =>
  budget < 4096 ? "low" : budget < 16_384 ? "medium" : "high";

const budgetOf = (reasoning: Reasoning): number =>
  typeof reasoning === "object" ? reasoning.budgetTokens : budgets[reasoning];

/** The output limit, in tokens. @param thinking the caller's own member */
export function outputLimit({ request, target, traits, warn }: Asked, thinking: Json | undefined): number {
  const most = target.facts.maxOutputTokens;
  const { maxOutputTokens: asked, reasoning } = request.settings;
  if (asked === undefined) {
    const budget =
      reasoning === undefined || reasoning === "off"
        ? (numberIn(objectIn(thinking)?.budget_tokens) ?? 0)
        : budgetOf(reasoning);
    // The budget counts towards the limit: the answer keeps as much room as it would have had without it.
    const room = budget >= traits.maxTokens ? budget + traits.maxTokens : traits.maxTokens;
    return most === undefined ? room : Math.min(most, Math.max(room, 64_000));
  }
  if (most === undefined || asked <= most) return asked;
  warn(
    "adjusted_setting",
    `maxOutputTokens ${asked} is more than the model's ${most}: ${most} was asked for`,
  );
  return most;
}

/** The members for the reasoning setting. @param maxTokens the output limit */
export function thinkingOf({ request, target, traits, messages, warn }: Asked, maxTokens: number): Thinking {
  const { reasoning } = request.settings;
  if (reasoning === undefined) return {};
  if (reasoning === "off") return off(traits, warn);
  if (traits.thinking === "none") {
    warn("unsupported_setting", "this model has no reasoning to set: the reasoning setting was left out");
    return {};
  }
  if (typeof reasoning === "string" && traits.thinking !== "budget")
    return adaptive(fromLow(levelFor(reasoning, lackingOf(target, traits), warn)), traits);
  const budget = budgetOf(reasoning);
  if (traits.thinking === "adaptive") {
    const effort = effortOf(budget);
    warn(
      "adjusted_setting",
      `this model takes no reasoning budget: effort ${effort} stands for ${budget} tokens`,
    );
    return adaptive(effort, traits);
  }
  if (!isThinkingLost(messages)) return enabled(budget, maxTokens, warn);
  warn(
    "unsupported_setting",
    "reasoning is off for this request: the turn in progress began without this model's reasoning",
  );
  return {};
}

/** The levels of effort that a Claude lacks. */
const lackingOf = (target: Target, { xhigh }: Traits): readonly string[] =>
  xhigh ? learnedLacks(target) : ["xhigh", ...learnedLacks(target)];

const adaptive = (effort: string, { hidesThinking }: Traits): Thinking => ({
  thinking: { type: "adaptive", ...(hidesThinking ? { display: "summarized" } : {}) },
  effort,
});

/** Thinking by a budget, which leaves the answer part of the limit. */
function enabled(budget: number, maxTokens: number, warn: Warn): Thinking {
  if (maxTokens <= leastBudget) {
    warn(
      "unsupported_setting",
      `reasoning was left out: it needs more than ${leastBudget} output tokens, and the limit is ${maxTokens}`,
    );
    return {};
  }
  const most = Math.max(leastBudget, maxTokens - leastBudget);
  return { thinking: { type: "enabled", budget_tokens: Math.max(leastBudget, Math.min(budget, most)) } };
}

function off(traits: Traits, warn: Warn): Thinking {
  switch (traits.off) {
    case "omit":
      return {};
    case "disabled":
    case "between_tools":
      return { thinking: { type: traits.off } };
    case "never":
      warn("adjusted_setting", "this model always reasons: the lowest effort was asked for in place of none");
      return { effort: "low" };
  }
}
