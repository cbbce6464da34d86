// The room of thinking: converts one setting of effort into what each generation of Gemini understands.
//
// Gemini 3 takes levels, Gemini 2.5 takes budgets, earlier models do not think. Pro models cannot switch it off, and each
// model lacks other levels.

import type { JsonObject, Settings } from "@rondo/core";
import { levelFor, type UpToHigh, upToHigh } from "../levels.ts";
import type { Warn } from "../warn.ts";
import type { GoogleTraits } from "./target.ts";

/** The budget in tokens for each level. All are within every 2.5 model's range. */
const budgets: { readonly [level in UpToHigh]: number } = {
  minimal: 512,
  low: 2048,
  medium: 8192,
  high: 24_576,
};

/** The smallest budget of a 2.5 Pro. */
const leastPro = 128;

export function googleThinking(
  settings: Settings,
  traits: GoogleTraits,
  model: string,
  warn: Warn,
): JsonObject | undefined {
  const { reasoning } = settings;
  if (reasoning === undefined) return undefined;
  if (traits.thinking === "none") {
    if (reasoning !== "off") warn("unsupported_setting", `${model} does not think; reasoning was left out`);
    return undefined;
  }
  const byLevel = traits.thinking === "level";
  if (reasoning === "off") {
    if (!byLevel && !traits.alwaysThinks) return { thinkingBudget: 0 };
    const least = byLevel ? nearest("MINIMAL", traits.lacksLevels) : `a budget of ${leastPro}`;
    warn("adjusted_setting", `${model} cannot stop thinking; it was asked for the least, ${least}`);
    return byLevel ? { thinkingLevel: least } : { thinkingBudget: leastPro };
  }
  const include = { includeThoughts: true };
  if (typeof reasoning === "object") return { ...include, thinkingBudget: reasoning.budgetTokens };
  if (!byLevel) return { ...include, thinkingBudget: budgets[upToHigh(reasoning, warn)] };
  const lacking = traits.xhigh ? traits.lacksLevels : ["XHIGH", ...traits.lacksLevels];
  const known = lacking.includes("XHIGH") ? upToHigh(reasoning, warn) : levelFor(reasoning, ["max"], warn);
  const level = nearest(known.toUpperCase(), lacking);
  if (level !== known.toUpperCase())
    warn("adjusted_setting", `${model} has no ${known} thinking; it was asked for ${level}`);
  return { ...include, thinkingLevel: level };
}

const levels: readonly string[] = ["MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"];

/** The level itself, or else the next available level above it, or below. */
function nearest(level: string, lacking: readonly string[]): string {
  const at = levels.indexOf(level);
  const there = (one: string): boolean => !lacking.includes(one);
  return levels.slice(at).find(there) ?? levels.slice(0, at).findLast(there) ?? level;
}
