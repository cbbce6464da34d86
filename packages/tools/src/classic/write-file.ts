// The room of the classic write_file: writes a whole file, overwriting whatever is there.

import { type Permission, type Tool, tool, toolResult } from "@rondo/core";
import { bytesOf, change } from "../files/atomic-write.ts";
import type { FileToolSet } from "../options.ts";
import { keyOf } from "../paths/given-path.ts";
import { shown } from "../reasons.ts";
import { answeringAbout } from "./reasons.ts";

export function writeFile(set: FileToolSet, maxBytes: number, permission: Permission): Tool {
  return tool({
    name: "write_file",
    description: "Writes a text file, overwriting an existing one; creates missing folders.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "The file to write." },
        content: { type: "string", description: "Its whole content." },
      },
      required: ["path", "content"],
    },
    effect: "idempotent",
    permission,
    keys: (args) => [keyOf(set.root, args.path)],
    execute: ({ path, content }, context) =>
      answeringAbout("File", path, context, async () => {
        const bytes = bytesOf(content, "the content");
        await change(set, path, { maxBytes, writeGit: false }, context.signal, (before) => ({
          bytes: before?.bytes.equals(bytes) ? undefined : bytes,
        }));
        return toolResult(`Successfully wrote to ${shown(path)}`);
      }),
  });
}
