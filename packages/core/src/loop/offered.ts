// The room of what is offered: which tools the model may be told of, and how.

import type { ToolDefinition } from "../model.ts";
import type { ToolFacts } from "./records.ts";
import type { State } from "./state.ts";

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

/** The tools there are for now: those that read kept texts only once there is one to read. */
export function knownTools({ options, readable }: State): readonly ToolFacts[] {
  if (options === undefined) return [];
  return readable ? options.tools : alwaysOffered(options.tools);
}

/** The tools the model is offered now: not the hidden ones, and only those the prepareStep hook chose, if it chose. */
export function offeredTools(state: State): readonly ToolFacts[] {
  const { options, run } = state;
  if (options === undefined || run === undefined) return [];
  const chosen = run.prepared?.tools;
  const tools = knownTools(state);
  if (run.hidden.length === 0 && chosen === undefined) return tools;
  return tools.filter(
    ({ definition: { name } }) =>
      !run.hidden.includes(name) && (chosen === undefined || chosen.includes(name)),
  );
}

const always = new WeakMap<readonly ToolFacts[], readonly ToolFacts[]>();

/** The tools that wait for nothing. The same list gives the same list: whoever encodes it can tell by identity. */
function alwaysOffered(tools: readonly ToolFacts[]): readonly ToolFacts[] {
  let known = always.get(tools);
  if (known === undefined) {
    known = tools.some((tool) => tool.when !== undefined)
      ? tools.filter((tool) => tool.when === undefined)
      : tools;
    always.set(tools, known);
  }
  return known;
}

const named = new WeakMap<readonly ToolFacts[], ReadonlyMap<string, ToolFacts>>();

/** The tool of that name. No two have one. */
export function toolNamed(tools: readonly ToolFacts[], name: string): ToolFacts | undefined {
  let known = named.get(tools);
  if (known === undefined) {
    known = new Map(tools.map((tool) => [tool.definition.name, tool]));
    named.set(tools, known);
  }
  return known.get(name);
}
