// The room of weighing: which tests count for which rules, and which test names are wrong.

import { relative } from "node:path";
import { root } from "../packages.ts";
import { assertionsOf } from "./assertions.ts";
import { mentionsIn, type NumberedRule } from "./book.ts";

/** The part of vitest's JSON report that is used. */
export interface Report {
  testResults: {
    /** The file. */
    name: string;
    assertionResults: { title: string; ancestorTitles: string[]; status: string }[];
  }[];
}

export interface Weighed {
  /** The tests that count, by the rule's id. */
  tests: Map<string, { title: string; path: string }[]>;
  /** Names that must be corrected. */
  wrong: string[];
  /** Tests with a rule's number that do not count. */
  notes: string[];
}

/** @param sourceOf returns the text of a test file */
export function weigh(
  report: Report,
  rules: readonly NumberedRule[],
  sourceOf: (path: string) => string,
): Weighed {
  const tests: Weighed["tests"] = new Map();
  const wrong = new Set<string>();
  const notes = new Set<string>();
  for (const { name: path, assertionResults } of report.testResults) {
    let asserts: ReturnType<typeof assertionsOf> | undefined;
    for (const { title, ancestorTitles, status } of assertionResults) {
      const mentions = mentionsIn([...ancestorTitles, title].join(" "), rules);
      if (mentions.length === 0) continue;
      const where = `${relative(root, path)}: ${JSON.stringify(title)}`;
      for (const { written, rule, canonical } of mentions) {
        if (rule === undefined) wrong.add(`${where} names ${written}, and there is no such rule`);
        else if (!canonical) wrong.add(`${where} names ${written}, which is written ${rule.id}`);
      }
      const named = [...new Set(mentions.flatMap(({ rule }) => (rule === undefined ? [] : [rule.id])))];
      if (named.length > 3) {
        wrong.add(`${where} names ${named.length} rules, at most 3 may be`);
        continue;
      }
      if (status !== "passed") {
        // A name filter skips all other tests of the file; one with a number was skipped for its own reason.
        notes.add(`${where} is ${status}`);
        continue;
      }
      asserts ??= assertionsOf(sourceOf(path), path);
      const seen = asserts(title);
      if (seen === undefined) notes.add(`${where} is not found in its source`);
      else if (!seen) notes.add(`${where} asserts nothing that can be seen in its source`);
      else for (const id of named) tests.set(id, [...(tests.get(id) ?? []), { title, path }]);
    }
  }
  return { tests, wrong: [...wrong], notes: [...notes] };
}
