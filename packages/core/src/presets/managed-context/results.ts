// The room of the managed results: results that this system writes in another way than Rondo does.
//
// What JSON can hold is written as JSON, so `null` is `null`. What JSON cannot hold is written as its own text, so nothing
// is `undefined`. Elsewhere Rondo says that there was no output, and describes in words what JSON cannot hold.

import { retold, toolWith } from "../../tool/derive.ts";
import { ToolResult } from "../../tool/tool-result.ts";
import type { Tool } from "../../tool.ts";

/** The tool, with its results written in this system's way. */
export const managedTool = (tool: Tool): Tool => toolWith(tool, retold(tool, told));

function told(value: unknown): unknown {
  if (typeof value === "string" || value instanceof ToolResult) return value;
  try {
    const json = JSON.stringify(value) ?? String(value);
    return typeof value === "object" && value !== null ? value : json;
  } catch {
    return String(value);
  }
}
