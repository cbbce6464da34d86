// The room of the grammar: a task becomes goals. Rules are tried in order and the first that applies wins; each looks at
// roles and stems, never at whole sentences. What no rule understands becomes `beyond`, and the answer says so.

import { expressionOf } from "./arithmetic.ts";
import { type Clause, countCue, readClause } from "./clause.ts";
import { type Goal, here } from "./goal.ts";
import { compareRule, extremeRule, weighRule } from "./grammar-compare.ts";
import { aboutMe, change, judgement, restriction } from "./grammar-orders.ts";
import { filtersOf, placesOf, type Rule, tally, withFilter } from "./grammar-rule.ts";
import { findRule, searchRule, valueRule } from "./grammar-search.ts";
import type { Unit } from "./lexicon.ts";
import { wordSet } from "./lexicon.ts";
import { isFileName } from "./places.ts";
import { clip } from "./solve/words.ts";
import { clausesOf, tokenize } from "./tokens.ts";

/**
 * The goals of a task.
 * @param before the goals of the task before it, for questions that refer to it
 */
export function goalsOf(task: string, before: readonly Goal[] = []): Goal[] {
  const goals: Goal[] = [];
  const known = new Set<string>();
  const clauses = clausesOf(tokenize(task));
  clauses.forEach((tokens, at) => {
    const clause = readClause(tokens, task, goals, before.length > 0 && at === 0);
    if (clause.sheet.tokens.length === 0 || (isCourtesy(clause.skeleton) && clauses.length > 1)) return;
    for (const rule of rules) {
      const found = rule(clause, goals, before);
      if (found === undefined) continue;
      for (const goal of found) {
        const key = JSON.stringify(goal);
        if (known.has(key)) continue;
        known.add(key);
        goals.push(goal);
      }
      break;
    }
  });
  return settle(goals);
}

const isCourtesy = (skeleton: string): boolean =>
  /^(please|thank|thank you|thanks|hi|hello|hey|ok|okay|great|good morning|cheers)$/.test(skeleton);

/** Merges repeated overviews, gives a later place to a bare count before it, and drops a trailing "beyond". */
function settle(goals: readonly Goal[]): Goal[] {
  const settled: Goal[] = [];
  for (const [at, goal] of goals.entries()) {
    const twin = settled.find(
      (one) =>
        one.do === "overview" &&
        goal.do === "overview" &&
        (goal.place.it === true || one.place.path === goal.place.path),
    );
    if (twin?.do === "overview" && goal.do === "overview") {
      if (goal.purpose) settled[settled.indexOf(twin)] = { ...twin, purpose: true };
      continue;
    }
    const next = goals[at + 1];
    if (
      goal.do === "count" &&
      next?.do === "count" &&
      goal.place === here &&
      implied.has(goal) &&
      next.place.path !== "."
    )
      settled.push({ ...goal, place: next.place });
    else settled.push(goal);
  }
  return settled;
}

/** Counts without a place of their own. */
const implied = new WeakSet<Goal>();

const calculate: Rule = (clause) => {
  const expression = expressionOf(clause.text);
  return expression === undefined ? undefined : [{ do: "calculate", expression }];
};

const unjudgeable: Rule = (clause) =>
  clause.sheet.unknown === undefined
    ? undefined
    : [
        {
          do: "beyond",
          why: `I have no step that tells which are ${clause.sheet.unknown}, and to count all of them would answer another question`,
        },
      ];

const countRule: Rule = (clause) => {
  const { skeleton } = clause;
  const how = howMuch(skeleton);
  const cue = countCue.test(skeleton);
  if (!cue && how === undefined) return undefined;
  let counted: readonly Unit[] = clause.counted.filter((unit) => unit !== "match");
  if (!cue && how !== undefined) counted = [how];
  if (counted.length === 0 && (clause.filters.length > 0 || clause.sheet.name !== undefined))
    counted = [clause.sheet.name?.unit ?? "file"];
  if (counted.length === 0) {
    if (!cue || clause.places.length === 0 || !/\bcount\b/.test(skeleton)) return undefined;
    counted = ["file"];
  }
  const goals = placesOf(clause).flatMap((place) =>
    filtersOf(clause).flatMap((filter) => counted.map((unit) => tally(unit, place, filter, clause.deep))),
  );
  if (
    clause.places.length === 0 &&
    clause.sheet.says === undefined &&
    clause.place === here &&
    !/\bthere\b/.test(skeleton)
  )
    for (const goal of goals) implied.add(goal);
  if (goals.length > 1 && /\b(together|combined|altogether|in all|sum|in total|total)\b/.test(skeleton))
    return [{ do: "weigh", parts: goals, ask: "sum" }];
  return goals;
};

/** "how long", "how big", "the size of". */
function howMuch(skeleton: string): Unit | undefined {
  if (/\bhow long\b|\blength of\b|\bline count\b/.test(skeleton)) return "line";
  if (/\bhow (big|large|heavy)\b|\bsize of\b|\b(file|byte) size\b|\bhow much space\b/.test(skeleton))
    return "byte";
  return undefined;
}

const readRule: Rule = (clause) => {
  const { sheet, skeleton } = clause;
  if (sheet.range !== undefined)
    return placesOf(clause).map((place) => ({
      do: "read",
      place,
      range: sheet.range as NonNullable<typeof sheet.range>,
    }));
  if (/\b(outline|structure|overview|summary|layout|toc|purpose|describe|explain|about)\b/.test(skeleton))
    return undefined;
  const asked =
    /^(read|open|cat|print|display|view|show|see|get|give|output|dump|head|tail|look at|fetch|load|type)\b/.test(
      skeleton,
    ) ||
    /\b(content|contents|text|body|source|say|written)\b/.test(skeleton) ||
    /^what('s| is|s)? (in|inside) (the )?(file )?PATH/.test(skeleton);
  if (!asked || clause.units.some((unit) => unit !== "file" && unit !== "line")) return undefined;
  const files = clause.places.filter((place) => isFileName(place.path));
  const lines = /^head/.test(skeleton)
    ? { range: { from: 1, to: 10 } }
    : /^tail/.test(skeleton)
      ? { range: { last: 10 } }
      : {};
  if (files.length > 0) return files.map((place) => ({ do: "read", place, ...lines }));
  if (
    clause.places.length > 0 &&
    /^(read|cat|head|tail)\b|\bfile\b/.test(skeleton) &&
    clause.filters.length === 0
  )
    return clause.places.map((place) => ({ do: "read", place, ...lines }));
  if (
    clause.places.length === 0 &&
    sheet.says === "there" &&
    /^(read|open|cat|print|show|display|view)\b/.test(skeleton)
  )
    return [{ do: "read", place: clause.place, ...lines }];
  return undefined;
};

const outlined = new Set<Unit>(["function", "class", "interface", "type", "heading", "export", "import"]);

const outlineRule: Rule = (clause) => {
  const only = clause.units.find((unit) => outlined.has(unit));
  const general =
    /\b(outline|structure|symbol|layout|declaration|declare|toc|table of content|define|skeleton|api)\b/.test(
      clause.skeleton,
    );
  if (only === undefined && !general) return undefined;
  const folders = placesOf(clause).every((place) => !isFileName(place.path));
  if (only === undefined && folders && /\b(structure|layout)\b/.test(clause.skeleton))
    return placesOf(clause).map((place) => ({ do: "list", what: "entry", place, deep: true }));
  if (
    only === undefined &&
    clause.places.length === 0 &&
    clause.sheet.says === undefined &&
    !/^(outline|show|give|what|list)\b/.test(clause.skeleton)
  )
    return undefined;
  return placesOf(clause).map((place) => ({
    do: "outline",
    place,
    ...(only === undefined ? {} : { only }),
    ...withFilter(clause.filters[0]),
  }));
};

const listRule: Rule = (clause) => {
  const { skeleton, units, filters, sheet } = clause;
  const cue =
    /^(list|show|display|name|enumerate|give|print|find|see|get|l|ls|dir|tree|look|locate|view|all|search|what|which|where|are|is|do|doe|any|identify|return|output|FILTER)\b|\b(which|what|list)\b/.test(
      skeleton,
    );
  if (!cue) return undefined;
  const folder = units.includes("folder");
  const file = units.includes("file") || filters.length > 0;
  const isTree = /^(ls|l|dir|tree|list)\b/.test(skeleton);
  if (
    !folder &&
    !file &&
    !units.includes("entry") &&
    !(isTree && (clause.places.length > 0 || sheet.says !== undefined || sheet.tokens.length <= 2))
  )
    return undefined;
  // "which file ..." with words nobody understood would list everything and answer another question.
  if (
    /^(which|what) (file|folder)\b/.test(skeleton) &&
    filters.length === 0 &&
    !/^(which|what) (file|folder) (are|is|do|doe|exist|in|under|here|can|live|PATH|inside|within|below|there|ha|have|make|sit)\b/.test(
      skeleton,
    )
  )
    return undefined;
  const what =
    folder && file && filters.length === 0
      ? "entry"
      : folder && filters.length === 0
        ? "folder"
        : file
          ? "file"
          : "entry";
  const deep = /^tree/.test(skeleton) ? true : clause.deep;
  return placesOf(clause).flatMap((place) =>
    filtersOf(clause).map((filter) => ({
      do: "list" as const,
      what,
      place,
      ...withFilter(filter),
      ...(deep === undefined ? {} : { deep }),
    })),
  );
};

const overviewRule: Rule = (clause) => {
  const { skeleton, sheet } = clause;
  const purpose =
    /\b(for|about|purpose|do|does|doe|describe|summari[sz]e|summary|overview|explain|tour|mean|point|goal|role)\b/.test(
      skeleton,
    );
  const asks =
    /^(what|what's|whats|describe|summari[sz]e|explain|overview|give|tell|introduce|explore|look|show|walk|tour|inspect|analy[sz]e|examine|list|open|browse|PATH)\b/.test(
      skeleton,
    ) || /\b(overview|summary|purpose)\b/.test(skeleton);
  if (!asks) return undefined;
  const placed = clause.places.length > 0 || sheet.says !== undefined;
  if (
    !placed &&
    !/^what('s| is| are)? (here|inside|in here|there)\b|^(look around|explore|overview)\b|^what do you see|^what is (it|this|that)( all)?( for| about)?$|^what doe it do/.test(
      skeleton,
    )
  )
    return undefined;
  if (leftover(clause) > 1) return undefined;
  return placesOf(clause).map((place) =>
    isFileName(place.path) ? { do: "describe", place } : { do: "overview", place, purpose },
  );
};

/** Words that mean nothing by themselves, and what a clause about a file or a folder may say. */
const ordinary: ReadonlySet<string> = wordSet(
  "what what's whats is are the a an in inside of for it this that these here there file folder",
  "directory dir project repo repository codebase workspace content contents describe summarize",
  "summarise summary explain overview give me tell about show us look at around explore do does doe all",
  "and purpose to contain hold have has stuff thing entry on with you see can my our your current quick",
  "short brief please list open main point meant mean used use made say walk through tour inspect",
  "analyze analyse examine browse i we introduce whole goal role under be within below package module",
  "everything code PATH PLACEWORD FILTER root working kind type sort readme",
);

/** Words with a meaning that no role has claimed: with too many of them, the clause asks for something else. */
export function leftover(clause: Clause): number {
  return clause.skeleton.split(" ").filter((word) => /[a-z]/i.test(word) && !ordinary.has(word)).length;
}

/** "and the python ones?", "what about packages/models?": the goal before, with what the clause changes. */
const leanRule: Rule = (clause, said, before) => {
  const last = said.at(-1) ?? before.at(-1);
  if (last === undefined || !("place" in last)) return undefined;
  const changes = clause.places.length > 0 || clause.filters.length > 0 || clause.units.length > 0;
  if (!changes || (!clause.leans && clause.sheet.tokens.length > 5)) return undefined;
  if (
    !clause.leans &&
    !/^(in|under|only|just|the|FILTER|PATH|file|folder|line|word|for|with)\b/.test(clause.skeleton)
  )
    return undefined;
  const places = clause.places.length > 0 ? clause.places : [last.place];
  return places.map((place): Goal => {
    const filter = clause.filters[0];
    if (last.do === "count" || last.do === "measure" || (last.do === "outline" && last.count)) {
      const unit =
        clause.units[0] ??
        (last.do === "count"
          ? filter === undefined
            ? last.what
            : "file"
          : last.do === "measure"
            ? last.unit
            : (last.only ?? "function"));
      const kept = filter ?? ("filter" in last && clause.units.length === 0 ? last.filter : undefined);
      return tally(unit, place, kept, last.do === "count" ? last.deep : undefined);
    }
    if (last.do === "list") {
      const what = clause.units.includes("folder")
        ? "folder"
        : filter !== undefined || clause.units.includes("file")
          ? "file"
          : last.what;
      return { ...last, what, place, ...withFilter(filter ?? last.filter) };
    }
    if (last.do === "read" && clause.places.length === 0)
      return { do: "beyond", why: "I did not understand what to do with it" };
    return { ...last, place, ...(filter !== undefined && "filter" in last ? { filter } : {}) } as Goal;
  });
};

const bareRule: Rule = (clause) => {
  if (leftover(clause) > 1) return undefined;
  if (clause.places.length > 0) return clause.places.map((place) => ({ do: "describe", place }));
  return clause.filters.length > 0
    ? [{ do: "list", what: "file", place: clause.place, ...withFilter(clause.filters[0]) }]
    : undefined;
};

const beyond: Rule = (clause) => [
  { do: "beyond", why: `I could not make out an action I know in “${clip(clause.text, 120)}”` },
];

const rules: readonly Rule[] = [
  aboutMe,
  calculate,
  change,
  judgement,
  restriction,
  weighRule,
  compareRule,
  unjudgeable,
  extremeRule,
  valueRule,
  searchRule,
  (clause, said, before) =>
    /^(what|how) about\b/.test(clause.skeleton) ? leanRule(clause, said, before) : undefined,
  countRule,
  findRule,
  readRule,
  (clause, said, before) =>
    clause.leans &&
    before.length + said.length > 0 &&
    !/^(list|show|what|which|find|describe|explain|summari[sz]e|outline|is|are|doe|where)\b/.test(
      clause.skeleton,
    )
      ? leanRule(clause, said, before)
      : undefined,
  outlineRule,
  listRule,
  overviewRule,
  leanRule,
  bareRule,
  beyond,
];
