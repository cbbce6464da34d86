// The room of the classic read_file: the whole text of a file, and nothing else.

import { stat } from "node:fs/promises";
import { type Tool, tool, toolResult } from "@rondo/core";
import type { FileToolSet } from "../options.ts";
import { keyOf, meant } from "../paths/given-path.ts";
import { sized } from "../reasons.ts";
import { contentIdOf } from "../stale-writes.ts";
import { answeringAbout, refusal } from "./reasons.ts";

export function readFile({ root, seen }: FileToolSet, maxBytes: number): Tool {
  return tool({
    name: "read_file",
    description: "Reads a text file and returns its whole content.",
    inputSchema: {
      type: "object",
      properties: { path: { type: "string", description: "The file to read." } },
      required: ["path"],
    },
    effect: "read",
    keys: (args) => [keyOf(root, args.path)],
    execute: ({ path }, context) =>
      answeringAbout("File", path, context, async () => {
        const place = meant(root, path);
        if (!place.exists) throw refusal("File not found", path);
        if (!(await stat(place.real)).isFile()) throw refusal("Path is not a file", path);
        const handle = await root.open(place, "file");
        try {
          const { size } = await handle.stat();
          if (size > maxBytes) throw refusal(`File is too large (${sized(size)})`, path);
          const bytes = await handle.readFile();
          seen.set(place.real, contentIdOf(bytes));
          return toolResult(textOf(bytes, path));
        } finally {
          await handle.close();
        }
      }),
  });
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal("File is not UTF-8 text", path);
  }
}
