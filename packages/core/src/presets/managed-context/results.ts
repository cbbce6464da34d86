// The room of the managed results: what a tool of this system returned, where it is told otherwise than elsewhere.
//
// What JSON has is told as JSON, so `null` is `null`; what JSON cannot hold is told as its own text, so nothing is
// `undefined`. Rondo elsewhere says that there was no output, and puts what JSON lacks into words.

import { retold, toolWith } from "../../tool/derive.ts";
import { ToolResult } from "../../tool/tool-result.ts";
import type { Tool } from "../../tool.ts";

/** The tool, its results told in this system's words. */
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
