// The room of the toolbox: which of the request's tools do the planner's work, and how to call each.
//
// Arguments follow the tool's declared schema: undeclared ones are not sent. If a tool is missing, the answer says so.

import type { JsonObject, ToolDefinition } from "@rondo/core";

export type Trade = "list" | "read" | "search" | "calculate" | "write" | "edit";

/** A call that the plan needs. */
export interface Step {
  trade: Trade;
  args: JsonObject;
}

const names: Record<Trade, RegExp> = {
  list: /^(list_files|list_dir|list_directory|ls)$/,
  read: /^(read_file|read|view_file|cat)$/,
  search: /^(search_files|search|grep)$/,
  calculate: /^(calculate|calculator|calc)$/,
  write: /^(write_file|write|create_file)$/,
  edit: /^(edit_file|edit|str_replace)$/,
};

/** Other names a schema may have for an argument. */
const synonyms: Record<string, readonly string[]> = {
  path: ["path", "file", "file_path", "filePath", "dir", "directory", "folder"],
  pattern: ["pattern", "glob", "query", "regex"],
  content: ["content", "text", "contents"],
  expression: ["expression", "expr", "input"],
  oldText: ["oldText", "old_text", "old", "old_string", "oldString", "find", "search"],
  newText: ["newText", "new_text", "new", "new_string", "newString", "replace", "replacement"],
  offset: ["offset", "start", "from"],
  replaceAll: ["replaceAll", "replace_all", "all"],
};

export class Toolbox {
  readonly #tools = new Map<Trade, ToolDefinition>();

  constructor(tools: readonly ToolDefinition[]) {
    for (const trade of Object.keys(names) as Trade[]) {
      const found = tools.find((tool) => names[trade].test(tool.name));
      if (found !== undefined) this.#tools.set(trade, found);
    }
  }

  has(trade: Trade): boolean {
    return this.#tools.has(trade);
  }

  /** The tool's description. */
  describes(trade: Trade): string {
    const tool = this.#tools.get(trade);
    return tool === undefined ? "" : `${tool.description} ${JSON.stringify(tool.inputSchema)}`;
  }

  /** Whether the tool accepts an argument. */
  takes(trade: Trade, argument: string): boolean {
    return this.#property(trade, argument) !== undefined;
  }

  /** The call as it is sent, and its key: two steps with the same key are one call. Undefined if no tool does it. */
  call(step: Step): { name: string; args: JsonObject; key: string } | undefined {
    const tool = this.#tools.get(step.trade);
    if (tool === undefined) return undefined;
    const args: JsonObject = {};
    for (const [argument, value] of Object.entries(step.args)) {
      const property = this.#property(step.trade, argument);
      if (property !== undefined && value !== undefined) args[property] = value;
    }
    return { name: tool.name, args, key: keyOf(tool.name, args) };
  }

  #property(trade: Trade, argument: string): string | undefined {
    const properties = this.#tools.get(trade)?.inputSchema.properties;
    if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return undefined;
    return (synonyms[argument] ?? [argument]).find((name) => Object.hasOwn(properties, name));
  }
}

/** A call's identity: its name, and its arguments in a fixed order. */
export function keyOf(name: string, args: JsonObject): string {
  return `${name} ${JSON.stringify(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}
