// The room of tools that a rule names: whether there are any of that name.

import { hint } from "../checks/nearest.ts";
import type { RunOptions } from "../loop/run-options.ts";

/** The first of these names that no tool of the run has, and what there is; undefined if all are known. */
export function missingTool(names: Iterable<string>, { tools }: RunOptions): string | undefined {
  const known = tools.map((one) => one.definition.name);
  const unknown = [...names].find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  const there = known.length === 0 ? "there are no tools" : hint(unknown, known);
  return `${JSON.stringify(unknown)}, and there is no such tool; ${there}`;
}
