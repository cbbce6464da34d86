// The room of the offered tools: which the model may be told of, and how.

import type { ToolDefinition } from "../model.ts";
import { oncePer } from "../once-per.ts";
import type { ToolFacts } from "./run-options.ts";
import { preparedOf, type RunState, type State } from "./state.ts";

/** The same list of tools gives the same list of definitions, so that whoever encodes them can tell by identity. */
export const definitionsOf: (tools: readonly ToolFacts[]) => readonly ToolDefinition[] = oncePer((tools) =>
  tools.map((tool) => tool.definition),
);

/** The tools there are for now: those that read kept texts only once there is one to read. */
export function knownTools({ options, readable }: State): readonly ToolFacts[] {
  if (options === undefined) return [];
  return readable ? options.tools : alwaysOffered(options.tools);
}

/** The tools the model is offered now: not the hidden ones, and only those the prepareStep hook chose for the step, if it chose. */
export function offeredTools(state: RunState): readonly ToolFacts[] {
  const { run } = state;
  const { hidden, landing, prepared } = run;
  // Nobody asks the hook about a landing, which calls none: what was declared last stays, and the front of the request with it.
  const chosen = (landing === undefined ? preparedOf(run) : prepared)?.tools;
  const tools = knownTools(state);
  if (hidden.length === 0 && chosen === undefined) return tools;
  return tools.filter(
    ({ definition: { name } }) => !hidden.includes(name) && (chosen === undefined || chosen.includes(name)),
  );
}

/** The tools that wait for nothing. The same list gives the same list. */
const alwaysOffered = oncePer((tools: readonly ToolFacts[]) =>
  tools.some((tool) => tool.when !== undefined) ? tools.filter((tool) => tool.when === undefined) : tools,
);

const byName = oncePer(
  (tools: readonly ToolFacts[]) => new Map(tools.map((tool) => [tool.definition.name, tool])),
);

/** The tool of that name. No two have one. */
export function toolNamed(tools: readonly ToolFacts[], name: string): ToolFacts | undefined {
  return byName(tools).get(name);
}
