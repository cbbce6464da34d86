// The room of comparisons: which of two, how much more, the largest of all, are they the same.

import type { Filter, Goal, Place } from "./goal.ts";
import { filtersOf, placesOf, type Rule, tally } from "./grammar-rule.ts";
import { type Unit, units as unitWords } from "./lexicon.ts";
import { isFileName } from "./places.ts";

const comparative =
  /\b(larger|bigger|longer|shorter|smaller|greater|more|fewer|le|less|heavier|lighter|most|fewest|longest|largest|biggest|smallest|shortest|compare|than|difference|versus|vs)\b/;
const summing = /\b(together|combined|altogether|sum|in total|in all)\b/;
const lesser = /\b(shorter|smaller|fewer|less|lighter|fewest|smallest|shortest|least)\b/;

/** Two or more things that can be counted, and which has more (or how many together). */
export const weighRule: Rule = (clause) => {
  const { skeleton, places } = clause;
  if (clause.sheet.needle !== undefined) return undefined;
  const sums = summing.test(skeleton);
  if (!comparative.test(skeleton) && !sums) return undefined;
  const filters = filtersOf(clause);
  // "is it longer than a.ts"
  const all =
    places.length === 1 && clause.sheet.says === "there" && /\bthan\b/.test(skeleton)
      ? [{ path: ".", it: true }, ...places]
      : places;
  const things: [Place, Filter | undefined][] =
    all.length >= 2
      ? all.map((place) => [place, filters[0]])
      : filters.length >= 2
        ? filters.map((filter) => [clause.place, filter])
        : [];
  if (things.length < 2) return undefined;
  const unit = weighedUnit(skeleton, clause.units, places);
  if (unit === undefined) return undefined;
  const ask =
    sums && !/\b(more|than|larger|longer)\b/.test(skeleton)
      ? "sum"
      : /\bhow (many|much) (more|fewer|less|longer|larger|bigger)\b|\bdifference\b/.test(skeleton)
        ? "difference"
        : lesser.test(skeleton)
          ? "fewer"
          : "more";
  const parts = things.map(([place, filter]) => tally(unit, place, filter, clause.deep));
  // "is a.ts or b.ts longer" asks which.
  const asksWhich = /\bor (?:\w+ )?(?:PATH|FILTER)\b/.test(skeleton);
  const asksWhether = /^(is|are|doe|do|ha|has|have)\b/.test(skeleton) && !asksWhich;
  return [{ do: "weigh", parts, ask, ...(asksWhether ? { whether: true } : {}) }];
};

function weighedUnit(skeleton: string, units: readonly Unit[], places: readonly Place[]): Unit | undefined {
  const files = places.length > 0 && places.every((place) => isFileName(place.path));
  // The noun right after "more", "number of", "how many" is what is weighed: "which folder has more files".
  const noun =
    /\b(?:more|fewer|most|fewest|less|number of|many|count)(?: (?:FILTER|of|the|total|test))* (\w+)/.exec(
      skeleton,
    )?.[1];
  const named = noun === undefined ? undefined : unitWords.get(noun);
  if (named !== undefined && named !== "match") return named;
  const said = units.find(
    (unit) => unit !== "match" && unit !== "entry" && unit !== "file" && unit !== "folder",
  );
  if (said !== undefined) return said;
  if (/\b(longer|shorter|longest|shortest|length)\b/.test(skeleton)) return "line";
  if (/\b(larger|bigger|smaller|largest|biggest|smallest|heavier|lighter|greater)\b/.test(skeleton))
    return files ? "byte" : "file";
  return /\b(more|fewer|most|fewest|total|together|combined|sum)\b/.test(skeleton) && !files
    ? "file"
    : undefined;
}

/** "Compare a and b", "are a and b the same". */
export const compareRule: Rule = (clause) => {
  const [left, right] = clause.places;
  if (left === undefined || right === undefined) return undefined;
  if (
    !/\b(compare|comparison|diff|difference|differ|different|same|identical|equal|versus|vs|in common|match)\b/.test(
      clause.skeleton,
    )
  )
    return undefined;
  return [{ do: "compare", left, right }];
};

/** The longest, largest, smallest of many files. */
export const extremeRule: Rule = (clause) => {
  const { skeleton } = clause;
  const found =
    /\b(longest|largest|biggest|smallest|shortest|heaviest|tiniest)\b|\b(most|fewest|least) (line|byte|text|code)\b/.exec(
      skeleton,
    );
  if (found === null) return undefined;
  const word = found[0];
  if (
    /\b(function|class|line|word|heading|method)\b/.test(
      skeleton
        .slice(found.index + word.length)
        .split(" ")
        .slice(0, 2)
        .join(" "),
    ) &&
    !/^(most|fewest|least)/.test(word)
  )
    return [{ do: "beyond", why: "I measure whole files, not the parts of one" } satisfies Goal];
  if (/\bfolder\b/.test(skeleton.slice(found.index).split(" ").slice(0, 2).join(" ")))
    return [
      {
        do: "beyond",
        why: "I measure files, not whole folders; ask me to count the files of each",
      } satisfies Goal,
    ];
  const unit =
    /\b(longest|shortest)\b|\bline\b/.test(skeleton) && !/\bbyte\b/.test(skeleton) ? "line" : "byte";
  const most = !/smallest|shortest|fewest|least|tiniest/.test(word);
  return placesOf(clause).map((place) => {
    const filter = filtersOf(clause)[0];
    return { do: "extreme", unit, most, place, ...(filter === undefined ? {} : { filter }) };
  });
};
