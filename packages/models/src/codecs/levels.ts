// The room of levels of reasoning: the nearest one that a model has.
//
// Every family has its own highest level, and it changes from model to model. A level above the highest becomes the highest,
// with a warning. Which levels a model lacks is known from its name, or learned from a refusal (`refusals/levels.ts`).

import type { Settings } from "@rondo/core";
import type { Target } from "../codec.ts";
import { textsIn } from "../json-values.ts";
import { highest, refusedLevels } from "../refusals/levels.ts";
import type { Warn } from "./warn.ts";

export type Level = Exclude<Extract<Settings["reasoning"], string>, "off">;

export type UpToHigh = Exclude<Level, "xhigh" | "max">;

/** From the least to the most. */
export const levels: readonly Level[] = ["minimal", "low", "medium", "high", "xhigh", "max"];

/** The level itself, or the highest one below it that the model does not lack. `high` and what is below it are never lowered here. */
export function levelFor(asked: Level, lacking: readonly string[], warn: Warn): Level {
  const have = levels.slice(0, levels.indexOf(asked) + 1);
  const level = have.findLast((one) => !highest.includes(one) || !lacking.includes(one)) ?? asked;
  if (level !== asked)
    warn(
      "adjusted_setting",
      `this model has no reasoning level ${asked}: ${level} was asked for in its place`,
    );
  return level;
}

/** The level for a family that has none above `high`. */
export const upToHigh = (asked: Level, warn: Warn): UpToHigh => levelFor(asked, highest, warn) as UpToHigh;

/** The level for a family that has none below `low`. */
export const fromLow = <L extends Level>(level: L): Exclude<L, "minimal"> | "low" =>
  level === "minimal" ? "low" : (level as Exclude<L, "minimal">);

/** The levels that the model has been found to lack. */
export const learnedLacks = ({ compat }: Target): readonly string[] => textsIn(compat?.lacksLevels);

/** The quirk that the refusal of a level reveals; undefined if it is none, or known. */
export function lacksLevels(words: string, target: Target): NonNullable<Target["compat"]> | undefined {
  const known = learnedLacks(target);
  const news = refusedLevels(words).filter((level) => !known.includes(level));
  return news.length === 0 ? undefined : { ...target.compat, lacksLevels: [...known, ...news] };
}
