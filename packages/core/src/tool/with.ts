// The room of changed tools: the same tool with something other about it.
//
// Who made the tool may have made it an object of a class: its own functions are called on it, whatever stands around
// them. What hosts have written on it besides is not taken along.

import type { ArgumentDefaults, ChildPlace, Tool, ToolContext } from "../tool.ts";

/** A tool as an agent takes it: checked by the agent's defaults, and with or without a way for unreadable arguments. */
export function fitTool(
  tool: Tool,
  defaults: Required<ArgumentDefaults>,
  executeRaw: Tool["executeRaw"] | undefined,
): Tool {
  const { executeRaw: _raw, ...fitted } = toolWith(tool, { check: (args) => tool.check(args, defaults) });
  return executeRaw === undefined ? fitted : { ...fitted, executeRaw };
}

/**
 * The same tool with something changed. What it does is still called on the tool itself, which may be an object of a class.
 * Under another name it is declared by that name as well.
 */
export function toolWith(tool: Tool, change: Partial<Tool>): Tool {
  const { name = tool.name } = change;
  const {
    definition,
    effect,
    permission,
    timeoutMs,
    when,
    keys,
    shellArgs,
    executeRaw,
    reconcile,
    version,
    agent,
    endChild,
    subAgent,
  } = tool;
  return {
    name,
    definition: name === definition.name ? definition : { ...definition, name },
    effect,
    permission,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(when === undefined ? {} : { when }),
    ...(keys === undefined ? {} : { keys: (args: never) => keys.call(tool, args) }),
    ...(shellArgs === undefined ? {} : { shellArgs }),
    check: (args, defaults) => tool.check(args, defaults),
    execute: (args: never, context) => tool.execute(args, context),
    ...(version === undefined ? {} : { version }),
    ...(reconcile === undefined
      ? {}
      : {
          reconcile: (key: string, args: never, context: ToolContext) =>
            reconcile.call(tool, key, args, context),
        }),
    ...(executeRaw === undefined
      ? {}
      : { executeRaw: (raw: string, context: ToolContext) => executeRaw.call(tool, raw, context) }),
    ...(agent === undefined ? {} : { agent }),
    ...(endChild === undefined
      ? {}
      : { endChild: (place: ChildPlace, reason: string) => endChild.call(tool, place, reason) }),
    ...(subAgent === undefined ? {} : { subAgent }),
    ...change,
  };
}
