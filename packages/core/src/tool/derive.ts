// The room of derived tools: the same tool with something changed.
//
// A tool may be an object of a class, so its own functions are called on it, also from a derived tool. Other members that a
// host has put on it are not copied.

import { executable, permission } from "../checks/ready-made.ts";
import { toolWords } from "../checks/tool-words.ts";
import {
  anything,
  type Check,
  type ChecksOf,
  callable,
  checkGiven,
  either,
  finite0,
  listOf,
  membersOf,
  number,
  object,
  oneOf,
  text,
} from "../checks.ts";
import type { Json } from "../message.ts";
import type { ArgumentDefaults, ChildPlace, Tool, ToolContext } from "../tool.ts";

const checks: ChecksOf<Tool> = {
  name: text,
  definition: object,
  effect: oneOf("read", "write", "idempotent"),
  permission,
  permissionOf: callable,
  timeoutMs: finite0,
  when: oneOf("capped", "offered"),
  keys: callable,
  shellArgs: listOf(text),
  check: callable,
  execute: executable,
  resume: callable,
  tell: callable,
  reconcile: callable,
  version: either(number, text),
  executeRaw: callable,
  agent: object,
  endChild: callable,
  leftOut: listOf(text),
  subAgent: anything,
};
const members = membersOf(checks, [], "let_pass");

/** Options of `tool` that are no members of a finished tool: set on one, they would have no effect. */
const elsewhere: Readonly<Record<string, string>> = {
  description: "there is no such option; here it is definition: { ...tool.definition, description }",
  inputSchema:
    "there is no such option; tool({ … }) makes a tool with another schema, and a check that goes with it",
  outputSchema:
    "there is no such option; tool({ … }) makes a tool whose results are checked, and tell may change them here",
};

/** Unknown members belong to the host, as in `tool`, unless their names look as if they were meant for the loop. */
const changes: Check = (value) => {
  if (object(value) !== undefined) return object(value);
  const name = Object.keys(value as object).find((one) => Object.hasOwn(elsewhere, one));
  if (name !== undefined) return { at: `.${name}`, says: elsewhere[name] as string };
  const meant = toolWords(value as object, Object.keys(checks));
  return meant === undefined ? members(value) : { at: `.${meant.name}`, says: meant.says };
};

/** A tool as an agent uses it: with the agent's defaults for its check, and with or without `executeRaw` for unreadable arguments. */
export function fitTool(
  tool: Tool,
  defaults: Required<ArgumentDefaults>,
  executeRaw: Tool["executeRaw"] | undefined,
): Tool {
  const { executeRaw: _raw, ...fitted } = changed(tool, { check: (args) => tool.check(args, defaults) });
  return executeRaw === undefined ? fitted : { ...fitted, executeRaw };
}

/** The same tool, with what it returns rendered in another way, after its own way, if it has one. */
export const retold = (tool: Tool, tell: (returned: unknown) => unknown): Pick<Tool, "tell"> => ({
  tell: async (returned) => tell(tool.tell === undefined ? returned : await tool.tell(returned)),
});

/**
 * The same tool with something changed. Its functions are still called on the tool itself, which may be an object of a
 * class. Under another name its definition has that name as well.
 * @throws RondoError `invalid_request` for a member that no tool has, or that has an invalid value
 */
export function toolWith(tool: Tool, change: Partial<Tool>): Tool {
  checkGiven(changes, change, `toolWith(tool ${JSON.stringify(tool.name)})`);
  return changed(tool, change);
}

function changed(tool: Tool, change: Partial<Tool>): Tool {
  const { name = tool.name } = change;
  const {
    definition,
    effect,
    permission,
    permissionOf,
    timeoutMs,
    when,
    keys,
    shellArgs,
    executeRaw,
    tell,
    resume,
    reconcile,
    version,
    agent,
    endChild,
    leftOut,
    subAgent,
  } = tool;
  return {
    name,
    definition: name === definition.name ? definition : { ...definition, name },
    effect,
    permission,
    ...(permissionOf === undefined || change.permission !== undefined
      ? {}
      : { permissionOf: (args: never) => permissionOf.call(tool, args) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(when === undefined ? {} : { when }),
    ...(keys === undefined ? {} : { keys: (args: never) => keys.call(tool, args) }),
    ...(shellArgs === undefined ? {} : { shellArgs }),
    check: (args, defaults) => tool.check(args, defaults),
    execute: (args: never, context) => tool.execute(args, context),
    ...(resume === undefined
      ? {}
      : {
          resume: (args: never, answer: Json, context: ToolContext) =>
            resume.call(tool, args, answer, context),
        }),
    ...(tell === undefined ? {} : { tell: (returned: unknown) => tell.call(tool, returned) }),
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
    ...(leftOut === undefined || change.definition !== undefined ? {} : { leftOut }),
    ...(endChild === undefined
      ? {}
      : { endChild: (place: ChildPlace, reason: string) => endChild.call(tool, place, reason) }),
    ...(subAgent === undefined ? {} : { subAgent }),
    ...change,
  };
}
