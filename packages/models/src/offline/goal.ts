// The room of goals: what a task can ask for, as data. The grammar makes goals, the solvers reach them.

import type { Unit } from "./lexicon.ts";

/** A file or folder as the task names it. `it` is whatever was mentioned last. */
export interface Place {
  path: string;
  it?: boolean;
  /** A single word that is a place only by its position: it may be a name deeper down. */
  bare?: boolean;
}

/** Which files are meant. A path passes if its name matches one of the globs; `tests` follows the conventions of many languages. */
export interface Filter {
  /** As a phrase, e.g. `TypeScript files (*.ts, *.tsx)`. */
  says: string;
  globs: readonly string[];
  tests?: boolean;
}

/** Lines, counted from 1. `last` counts from the end. */
export type Range = { from: number; to: number } | { last: number };

export type CountGoal = {
  do: "count";
  what: "file" | "folder" | "entry";
  place: Place;
  filter?: Filter;
  /** true: with subfolders; false: directly in it; absent: the task does not say. */
  deep?: boolean;
};

export type MeasureGoal = {
  do: "measure";
  unit: "line" | "word" | "character" | "byte";
  place: Place;
  filter?: Filter;
};

export type OutlineGoal = {
  do: "outline";
  place: Place;
  /** Only these; absent: everything declared. */
  only?: Unit;
  count?: boolean;
  filter?: Filter;
};

export type SearchGoal = {
  do: "search";
  needle: string;
  mode: "lines" | "files" | "count_files" | "count" | "yes_no" | "defined" | "used";
  place: Place;
  filter?: Filter;
  /** Whole words only. */
  whole: boolean;
};

export type Goal =
  | { do: "overview"; place: Place; purpose: boolean }
  | { do: "list"; what: "file" | "folder" | "entry"; place: Place; filter?: Filter; deep?: boolean }
  | CountGoal
  | MeasureGoal
  | OutlineGoal
  | SearchGoal
  | {
      do: "extreme";
      unit: "line" | "byte";
      most: boolean;
      place: Place;
      filter?: Filter;
    }
  | {
      do: "weigh";
      parts: readonly (CountGoal | MeasureGoal | OutlineGoal | SearchGoal)[];
      ask: "more" | "fewer" | "sum" | "difference";
      /** Asked as a yes-or-no question about the first part. */
      whether?: boolean;
    }
  | { do: "compare"; left: Place; right: Place }
  | { do: "read"; place: Place; range?: Range }
  | { do: "describe"; place: Place }
  | { do: "value"; key: string; place: Place }
  | { do: "find"; filter: Filter; place: Place; what: "file" | "folder" }
  | { do: "calculate"; expression: string }
  | { do: "write"; place: Place; content: string }
  | { do: "edit"; place: Place; find: string; put: string }
  | { do: "about_me" }
  | { do: "beyond"; why: string };

export const here: Place = { path: "." };
