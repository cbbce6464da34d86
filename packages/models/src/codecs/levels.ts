// The room of levels of reasoning: the nearest one that a model has.
//
// Every family has its own highest level, and it changes from model to model. A level above the highest becomes the highest,
// with a warning. Which levels a model lacks is known from its name, or learned from a refusal (`refusals/levels.ts`).

import type { Settings } from "@rondo/core";
import type { Target } from "../codec.ts";
import { listIn } from "../json-values.ts";
import type { Warn } from "./warn.ts";

export type Level = Exclude<Extract<Settings["reasoning"], string>, "off">;

/** From the least to the most. */
export const levels: readonly Level[] = ["minimal", "low", "medium", "high", "xhigh", "max"];

/** The levels above `high`, which many models lack. */
export const highest: readonly Level[] = ["xhigh", "max"];

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

/** The levels that the model has been found to lack. */
export const learnedLacks = ({ compat }: Target): readonly string[] =>
  listIn(compat?.lacksLevels).filter((one): one is string => typeof one === "string");
