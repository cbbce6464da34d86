// The room of definitions: what the model is told of the tools.

import type { ToolDefinition } from "../model.ts";
import type { ToolFacts } from "./records.ts";

const definitions = new WeakMap<readonly ToolFacts[], readonly ToolDefinition[]>();

/** The same list of tools gives the same list of definitions, so that whoever encodes them can tell by identity. */
export function definitionsOf(tools: readonly ToolFacts[]): readonly ToolDefinition[] {
  let known = definitions.get(tools);
  if (known === undefined) {
    known = tools.map((tool) => tool.definition);
    definitions.set(tools, known);
  }
  return known;
}
