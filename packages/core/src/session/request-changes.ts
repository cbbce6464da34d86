// The room of comparing requests: in which of its parts one differs from another.
//
// Parts have the names of the options; values are complete, and are shortened only when they are shown.

import { jsonCopy } from "../json/copy.ts";
import { canonical } from "../json/digest.ts";
import type { Json, Message } from "../message.ts";
import type { ModelRequest } from "../model.ts";

/** One thing that has changed. A side that is absent did not exist. */
export interface ValueChange {
  /** E.g. `system`, `tool weather`, `settings.temperature`, `message 3`, `rule max_steps`. */
  what: string;
  was?: Json;
  is?: Json;
}

/** The parts in which a request differs from another. Messages are counted from 1; only the first that differs is listed. */
export function requestChanges(was: ModelRequest, is: ModelRequest): ValueChange[] {
  return [
    ...valueChange("system", was.system, is.system),
    ...keyed("tool ", byName(was.tools), byName(is.tools)),
    ...valueChange("toolChoice", was.toolChoice, is.toolChoice),
    ...keyed("settings.", was.settings, is.settings),
    ...valueChange("outputSchema", was.outputSchema, is.outputSchema),
    ...messageChange([...was.messages], [...is.messages]),
  ];
}

const byName = (tools: ModelRequest["tools"]): object =>
  Object.fromEntries(tools.map((tool) => [tool.name, tool]));

function messageChange(was: readonly Message[], is: readonly Message[]): ValueChange[] {
  const most = Math.max(was.length, is.length);
  for (let at = 0; at < most; at += 1) {
    const changed = valueChange(`message ${at + 1}`, was[at], is[at]);
    if (changed.length > 0) return changed;
  }
  return [];
}

function keyed(prefix: string, was: object, is: object): ValueChange[] {
  const before = new Map<string, unknown>(Object.entries(was));
  const after = new Map<string, unknown>(Object.entries(is));
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => valueChange(`${prefix}${name}`, before.get(name), after.get(name)));
}

/** The change between two values, if any. They are compared as JSON: an absent member equals one that is `undefined`. */
export function valueChange(what: string, was: unknown, is: unknown): ValueChange[] {
  const [before, after] = [json(was), json(is)];
  if (before === undefined && after === undefined) return [];
  if (before !== undefined && after !== undefined && canonical(before) === canonical(after)) return [];
  return [
    { what, ...(before === undefined ? {} : { was: before }), ...(after === undefined ? {} : { is: after }) },
  ];
}

const json = (value: unknown): Json | undefined => jsonCopy(value, "", "lenient") as Json | undefined;
