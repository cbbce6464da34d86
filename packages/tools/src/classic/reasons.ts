// The room of the classic reasons: the short error texts of these tools.

import type { ToolContext, ToolResult } from "@rondo/core";
import { answering } from "../answering.ts";
import { codeOf, Refusal, shown } from "../reasons.ts";

/** Runs a tool's work about `path`; a file system error becomes `Error: <reason>: <path>`. */
export function answeringAbout(
  what: "File" | "Directory",
  path: string,
  context: ToolContext,
  work: () => Promise<ToolResult>,
): Promise<ToolResult> {
  return answering(context, path, async () => {
    try {
      return await work();
    } catch (thrown) {
      throw inWords(thrown, what, path);
    }
  });
}

/** Something is missing, or is not what it should be. */
export const refusal = (reason: string, path: string): Refusal => new Refusal(`${reason}: ${shown(path)}`);

function inWords(thrown: unknown, what: "File" | "Directory", path: string): unknown {
  switch (codeOf(thrown)) {
    case "ENOENT":
    // Nothing exists below a file.
    case "ENOTDIR":
      return refusal(`${what} not found`, path);
    case "EACCES":
    case "EPERM":
      return refusal("Permission denied", path);
    default:
      return thrown;
  }
}
