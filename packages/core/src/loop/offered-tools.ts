// The room of the offered tools: which tools the model sees, and how they are defined.

import type { ToolDefinition } from "../model.ts";
import { oncePer } from "../once-per.ts";
import type { ToolFacts } from "./run-options.ts";
import { preparedOf, type RunState, type State } from "./state.ts";

/** The same list of tools gives the same list of definitions, so that encoders can recognise it by identity. */
export const definitionsOf: (tools: readonly ToolFacts[]) => readonly ToolDefinition[] = oncePer((tools) =>
  tools.map((tool) => tool.definition),
);

/** The tools that exist now: those that read kept texts only once there is one to read. */
export function knownTools({ options, readable }: State): readonly ToolFacts[] {
  if (options === undefined) return [];
  return readable ? options.tools : alwaysOffered(options.tools);
}

/** The tools that the model is offered now: without hidden ones, and only those that the prepareStep hook chose, if it did. */
export function offeredTools(state: RunState): readonly ToolFacts[] {
  const { run } = state;
  const { hidden, landing, prepared } = run;
  // The hook is not asked about a landing, which may call none: the tools declared last stay, and so the front of the request.
  const chosen = (landing === undefined ? preparedOf(run) : prepared)?.tools;
  const tools = knownTools(state);
  if (hidden.length === 0 && chosen === undefined) return tools;
  return tools.filter(
    ({ definition: { name } }) => !hidden.includes(name) && (chosen === undefined || chosen.includes(name)),
  );
}

/** The tools that are always offered. The same list gives the same list. */
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
