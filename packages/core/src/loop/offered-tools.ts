// The room of the offered tools: which tools the model sees, and how they are defined.

import type { ToolDefinition } from "../model.ts";
import { oncePer } from "../once-per.ts";
import type { ToolFacts } from "./run-options.ts";
import { preparedOf, type RunState, type State } from "./state.ts";

/** The same list of tools gives the same list of definitions, so that encoders can recognise it by identity. */
export const definitionsOf: (tools: readonly ToolFacts[]) => readonly ToolDefinition[] = oncePer((tools) =>
  tools.map((tool) => tool.definition),
);

/**
 * The tools that exist now: those that read kept texts only once there is one to read; and those that wait to be offered after all
 * others, in the order in which results offered them, so that what a request begins with changes as little as possible.
 */
export function knownTools(state: State): readonly ToolFacts[] {
  const { always, readers } = knownIn(state);
  return state.readable ? readers : always;
}

/** The tools that the model is offered now: without hidden ones, and only those that the prepareStep hook chose, if it did; then also one that waits to be offered. */
export function offeredTools(state: RunState): readonly ToolFacts[] {
  const { run } = state;
  const { hidden, landing, prepared } = run;
  // The hook is not asked about a landing, which may call none: the tools declared last stay, and so the front of the request.
  const chosen = (landing === undefined ? preparedOf(run) : prepared)?.tools;
  const tools = knownTools(state);
  if (hidden.length === 0 && chosen === undefined) return tools;
  const among = chosen === undefined ? tools : [...tools, ...knownIn(state).waiting];
  return among.filter(
    ({ definition: { name } }) => !hidden.includes(name) && (chosen === undefined || chosen.includes(name)),
  );
}

/** The tools that wait until a result offers them, and that are not offered now. */
export function waitingTools(state: RunState): readonly ToolFacts[] {
  const { waiting } = knownIn(state);
  // A hook may have chosen some of them.
  if (waiting.length === 0 || preparedOf(state.run)?.tools === undefined) return waiting;
  const offered = offeredTools(state);
  return waiting.filter((one) => !offered.includes(one));
}

/** Before and after there is a kept text to read; and those that wait to be offered. */
interface Known {
  readonly always: readonly ToolFacts[];
  readonly readers: readonly ToolFacts[];
  readonly waiting: readonly ToolFacts[];
}

const knownIn = ({ options, offered }: State): Known => {
  const tools = options?.tools ?? [];
  return offered === undefined ? unasked(tools) : asked(offered)(tools);
};

/** Before any result has offered a tool. The same list gives the same lists. */
const unasked = oncePer((tools: readonly ToolFacts[]): Known => {
  const readers = without("offered", tools);
  const waiting = readers === tools ? [] : tools.filter(({ when }) => when === "offered");
  return { always: without("capped", readers), readers, waiting };
});

/** With those that were offered. The same two lists give the same lists. */
const asked = oncePer((offered: readonly string[]) =>
  oncePer((tools: readonly ToolFacts[]): Known => {
    const { always, readers, waiting } = unasked(tools);
    const more = offered.flatMap((name) => {
      const one = toolNamed(tools, name);
      return one?.when === "offered" ? [one] : [];
    });
    return {
      always: [...always, ...more],
      readers: [...readers, ...more],
      waiting: waiting.filter((one) => !more.includes(one)),
    };
  }),
);

const without = (which: ToolFacts["when"], tools: readonly ToolFacts[]): readonly ToolFacts[] =>
  tools.some(({ when }) => when === which) ? tools.filter(({ when }) => when !== which) : tools;

const byName = oncePer(
  (tools: readonly ToolFacts[]) => new Map(tools.map((tool) => [tool.definition.name, tool])),
);

/** The tool of that name. No two have one. */
export function toolNamed(tools: readonly ToolFacts[], name: string): ToolFacts | undefined {
  return byName(tools).get(name);
}
