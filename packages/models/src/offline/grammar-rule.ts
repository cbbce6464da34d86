// The room of what the grammar's rules share: what a rule is, and what a clause says about places and filters.

import type { Clause } from "./clause.ts";
import type { CountGoal, Filter, Goal, MeasureGoal, OutlineGoal, Place } from "./goal.ts";
import type { Unit } from "./lexicon.ts";

/** What a rule makes of a clause: goals, or undefined if it does not apply. */
export type Rule = (clause: Clause, said: readonly Goal[], before: readonly Goal[]) => Goal[] | undefined;

export const filtersOf = (clause: Clause): (Filter | undefined)[] => {
  const named = clause.sheet.name?.unit === "file" ? [clause.sheet.name.filter] : [];
  const all = [...clause.filters, ...named];
  return all.length === 0 ? [undefined] : all;
};

export const placesOf = (clause: Clause): readonly Place[] =>
  clause.places.length > 0 ? clause.places : [clause.place];

export const withFilter = (filter: Filter | undefined): { filter?: Filter } =>
  filter === undefined ? {} : { filter };

/** The goal that counts one unit at one place. */
export function tally(
  unit: Unit,
  place: Place,
  filter: Filter | undefined,
  deep: boolean | undefined,
): CountGoal | MeasureGoal | OutlineGoal {
  if (unit === "line" || unit === "word" || unit === "character" || unit === "byte")
    return { do: "measure", unit, place, ...withFilter(filter) };
  if (unit === "file" || unit === "folder" || unit === "entry")
    return {
      do: "count",
      what: unit,
      place,
      ...(unit === "file" ? withFilter(filter) : {}),
      ...(deep === undefined ? {} : { deep }),
    };
  return { do: "outline", only: unit, count: true, place, ...withFilter(filter) };
}
