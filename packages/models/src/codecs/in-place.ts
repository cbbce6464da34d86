// The room of tools in place: a model is told of an offered tool where the result is that offered it.
//
// Providers cache the front of a request, and the tools are at its very front: one more there, and everything after it is
// read anew. Some protocols take the definition of a tool in the middle of the conversation instead.

import { type ModelRequest, offersOf, type ToolDefinition, type ToolMessage } from "@rondo/core";
import type { Target } from "../codec.ts";

/** The model can, as far as is known, and the server has not refused it. */
export const tellsInPlace = ({ facts, compat }: Target): boolean =>
  facts.offersInPlace === true && compat?.offersInPlace !== false;

/** The tools that a conversation, as far as it is joined, tells of. */
export interface Told {
  /** Their names. */
  told: Set<string>;
  /** Those of them that must follow the last result of their turn. */
  telling: readonly ToolDefinition[];
}

export const nothingTold = (): Told => ({ told: new Set(), telling: [] });

/** Notes the tools that a result offers: the model is told of each once, after the results of the turn. */
export function tell(result: ToolMessage, { tools }: ModelRequest, to: Told): void {
  if (result.isError) return;
  for (const name of offersOf(result)) {
    const tool = to.told.has(name) ? undefined : tools.find((one) => one.name === name);
    if (tool === undefined) continue;
    to.told.add(name);
    to.telling = [...to.telling, tool];
  }
}

/** The tools that a conversation tells of and that are hidden now: it has to be joined anew, without them. */
export const hiddenOf = ({ told }: Told, { tools }: ModelRequest): string[] =>
  told.size === 0 ? [] : [...told].filter((name) => !tools.some((tool) => tool.name === name));

/** The tools in front of a conversation. The same lists give the same list, so that its text is made once. */
export class FrontTools {
  #last: { tools: ModelRequest["tools"]; told: number; list: ModelRequest["tools"] } | undefined;

  of(tools: ModelRequest["tools"], told: ReadonlySet<string>): ModelRequest["tools"] {
    if (told.size === 0) return tools;
    if (this.#last?.tools !== tools || this.#last.told !== told.size)
      this.#last = { tools, told: told.size, list: tools.filter(({ name }) => !told.has(name)) };
    return this.#last.list;
  }
}
