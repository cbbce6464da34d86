// The room of the classic list_files: sorted names, with subfolders as a tree. Symlinks are listed, and not followed.

import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Tool, tool, toolResult } from "@rondo/core";
import type { FileToolSet } from "../options.ts";
import { meant } from "../paths/given-path.ts";
import type { Place, Root } from "../paths/root.ts";
import { codeOf, counted, Refusal, shown } from "../reasons.ts";
import { answeringAbout, refusal } from "./reasons.ts";

export function listFiles({ root }: FileToolSet, maxEntries: number): Tool {
  return tool({
    name: "list_files",
    description:
      "Lists the content of a folder, sorted; folders end with a slash. With recursive, lists everything below as well, as a tree.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "The folder to list." },
        recursive: { type: "boolean", description: "List everything below as well. Default: false." },
      },
      required: ["path"],
    },
    effect: "read",
    execute: ({ path, recursive = false }, context) =>
      answeringAbout("Directory", path, context, async () => {
        const place = meant(root, path);
        if (!place.exists) throw refusal("Directory not found", path);
        if (!(await stat(place.real)).isDirectory()) throw refusal("Path is not a directory", path);
        const lines: string[] = [];
        for await (const line of linesBelow({ root, recursive, signal: context.signal }, place)) {
          if (lines.length === maxEntries) {
            lines.push(`[only the first ${counted(maxEntries, "entry", "entries")} are shown]`);
            break;
          }
          lines.push(line);
        }
        return toolResult(lines.length === 0 ? `Directory is empty: ${shown(path)}` : lines.join("\n"));
      }),
  });
}

/** State shared by the whole listing. */
interface Listing {
  root: Root;
  recursive: boolean;
  signal: AbortSignal;
}

/** @param indent prefix of lines below the first level of the tree; undefined on the first level */
async function* linesBelow(
  listing: Listing,
  place: Place,
  indent?: string,
): AsyncGenerator<string, void, undefined> {
  const { root, recursive, signal } = listing;
  signal.throwIfAborted();
  const entries = await entriesOf(root, place, indent !== undefined);
  for (const [at, entry] of entries.entries()) {
    const isFolder = entry.isDirectory();
    const name = `${shown(entry.name)}${isFolder ? "/" : ""}`;
    if (!recursive) {
      yield name;
      continue;
    }
    const isLast = at === entries.length - 1;
    yield `${indent ?? ""}${isLast ? "└── " : "├── "}${name}`;
    if (!isFolder) continue;
    const inner: Place = {
      shown: place.shown === "." ? entry.name : `${place.shown}/${entry.name}`,
      real: join(place.real, entry.name),
      exists: true,
    };
    yield* linesBelow(listing, inner, `${indent ?? ""}${isLast ? "    " : "│   "}`);
  }
}

/** Sorted by code points. A subfolder that vanished, or cannot be read, lists as empty. */
async function entriesOf(root: Root, place: Place, below: boolean): Promise<Dirent[]> {
  try {
    const folder = await root.folder(place);
    try {
      const entries = await readdir(folder.path, { withFileTypes: true });
      return entries.sort((one, other) => Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)));
    } finally {
      await folder.close();
    }
  } catch (thrown) {
    if (below && (codeOf(thrown) !== undefined || thrown instanceof Refusal)) return [];
    throw thrown;
  }
}
