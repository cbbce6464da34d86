// The room of tools that a rule names: how they are given, and whether there are any of that name.

import { hint } from "../checks/nearest.ts";
import { type Check, needed } from "../checks.ts";
import type { RunOptions } from "../loop/run-options.ts";

const isName = (value: unknown): boolean => typeof value === "string" && value !== "";

/** The name of a tool, or several. */
export const toolNames: Check = needed(
  "the name of a tool, or a list of names,",
  (value) => isName(value) || (Array.isArray(value) && value.length > 0 && value.every(isName)),
);

/** The first of these names that no tool of the run has, and what there is; undefined if all are known. */
export function missingTool(names: Iterable<string>, { tools }: RunOptions): string | undefined {
  const known = tools.map((one) => one.definition.name);
  const unknown = [...names].find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  const there = known.length === 0 ? "there are no tools" : hint(unknown, known);
  return `${JSON.stringify(unknown)}, and there is no such tool; ${there}`;
}
