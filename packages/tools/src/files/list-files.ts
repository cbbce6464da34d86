// The room of list_files: what is in a folder, with exact counts.

import { type Tool, type ToolResult, tool, toolResult } from "@rondo/core";
import { checkGiven, count, membersOf } from "@rondo/core/checks";
import { answering } from "../answering.ts";
import { type FileToolOptions, fileToolChecks, fileToolSet } from "../options.ts";
import { compiled, globNote, relativeGlob } from "../paths/given-glob.ts";
import { meant } from "../paths/given-path.ts";
import type { Place, Root } from "../paths/root.ts";
import { type EntryKind, type LeftOut, walk } from "../paths/walk.ts";
import { counted, shown } from "../reasons.ts";

export interface ListFilesOptions extends FileToolOptions {
  /** Maximum number of entries shown; all are counted. Default: 1,000. */
  maxEntries?: number;
}

interface Args {
  path?: string;
  recursive?: boolean;
  pattern?: string;
  includeIgnored?: boolean;
}

const optionChecks = membersOf<ListFilesOptions>(
  {
    ...fileToolChecks,
    maxEntries: count,
  },
  ["root"],
);

/** The tool `list_files`. */
export function listFiles(options: ListFilesOptions): Tool {
  checkGiven(optionChecks, options, "listFiles");
  const { root } = fileToolSet(options.root);
  const maxEntries = options.maxEntries ?? 1000;
  return tool({
    name: "list_files",
    description:
      "Lists files and folders, sorted, as paths relative to the root; folders end with a slash. The first line " +
      "counts all of them exactly. What git ignores and node_modules are left out unless includeIgnored is true; .git always is.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "The folder to list. Default: the root." },
        recursive: {
          type: "boolean",
          description: "Also list everything below. Default: false, true when a pattern is given.",
        },
        pattern: {
          type: "string",
          maxLength: 1000,
          description:
            'A glob: "*.ts" is matched against names, "src/**/*.ts" against paths relative to the folder; "!*.test.ts" excludes. Lists files only, unless it ends with "/".',
        },
        includeIgnored: {
          type: "boolean",
          description: "Also list what git ignores and node_modules. Default: false.",
        },
      },
    },
    effect: "read",
    permission: options.permission ?? "allow",
    execute: (args, context) =>
      answering(context, args.path ?? ".", () => listed(root, args, maxEntries, context.signal)),
  });
}

async function listed(root: Root, args: Args, maxEntries: number, signal: AbortSignal): Promise<ToolResult> {
  const place = meant(root, args.path ?? ".");
  const pattern = relativeGlob(args.pattern, root, place);
  const matches = matcher(pattern);
  const recursive = args.recursive ?? pattern !== undefined;
  const left: LeftOut = { ignored: 0, unreadable: [] };
  const found: Found = { counts: { file: 0, folder: 0, link: 0, other: 0 }, lines: [] };
  const below = place.shown === "." ? 0 : place.shown.length + 1;
  const how = { recursive, includeIgnored: args.includeIgnored ?? false, signal };
  for await (const { path, kind } of walk(root, place, how, left)) {
    if (!matches(path.slice(below), kind)) continue;
    found.counts[kind]++;
    if (found.lines.length < maxEntries) found.lines.push(line(path, kind));
  }
  const scope = [
    `in ${shown(place.shown)}${recursive ? " and below" : ""}`,
    ...(pattern === undefined ? [] : [`matching ${JSON.stringify(args.pattern)}`]),
    ...(left.ignored > 0 ? [`(${counted(left.ignored, "ignored entry", "ignored entries")} left out)`] : []),
  ].join(" ");
  const head = `${countsText(found)} ${scope}`;
  return toolResult([head, ...found.lines, ...notes(found, left, pattern, place)].join("\n"));
}

interface Found {
  counts: Record<EntryKind, number>;
  /** Only the first ones. */
  lines: string[];
}

function countsText({ counts }: Found): string {
  return [
    counted(counts.file, "file"),
    counted(counts.folder, "folder"),
    ...(counts.link > 0 ? [counted(counts.link, "link")] : []),
    ...(counts.other > 0
      ? [counted(counts.other, "device, pipe or socket", "devices, pipes or sockets")]
      : []),
  ].join(", ");
}

/** What the list does not show, and why. */
function notes(
  { counts, lines }: Found,
  { unreadable }: LeftOut,
  pattern: string | undefined,
  place: Place,
): string[] {
  const total = counts.file + counts.folder + counts.link + counts.other;
  return [
    ...(total === 0 && pattern !== undefined ? [globNote("pattern", pattern, place.shown)] : []),
    ...(total > lines.length
      ? [
          `the first ${counted(lines.length, "entry", "entries")} of ${total.toLocaleString("en-US")}; path or pattern can narrow the list`,
        ]
      : []),
    ...(unreadable.length > 0 ? [`could not be read: ${unreadable.map(shown).join(", ")}`] : []),
  ].map((note) => `[${note}]`);
}

function line(path: string, kind: EntryKind): string {
  const name = shown(kind === "folder" ? `${path}/` : path);
  return kind === "link" ? `${name} (link)` : kind === "other" ? `${name} (no plain file)` : name;
}

/** Whether an entry matches. Without a pattern everything does. */
function matcher(pattern: string | undefined): (path: string, kind: EntryKind) => boolean {
  if (pattern === undefined) return () => true;
  // After a `!` the trailing slash marks a folder to leave out.
  const folders = /\/$/.test(pattern) && !/(?:^|,)\s*![^,]*$/.test(pattern);
  const test = compiled(folders ? pattern.slice(0, -1) : pattern);
  return (path, kind) => (kind === "folder") === folders && test(path);
}
