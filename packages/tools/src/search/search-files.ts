// The room of search_files: lines that match a regular expression, within a strict time limit.
//
// The search runs in its own thread (`thread.ts`), which is terminated at the limit. The matches found until then are reported.

import { type Tool, type ToolResult, tool, toolResult } from "@rondo/core";
import { checkGiven, count, from0, membersOf } from "@rondo/core/checks";
import { answering } from "../answering.ts";
import { type FileToolOptions, fileToolChecks, fileToolSet } from "../options.ts";
import { compiled, globNote, relativeGlob } from "../paths/given-glob.ts";
import { meant } from "../paths/given-path.ts";
import type { Root } from "../paths/root.ts";
import { counted, shown, sized } from "../reasons.ts";
import { expressionOf, otherMeanings } from "./pattern.ts";
import { type Found, searched } from "./thread.ts";
import type { SearchNews, SearchOrder } from "./thread-messages.ts";

export interface SearchFilesOptions extends FileToolOptions {
  /** Maximum number of matching lines shown; all are counted. Default: 200. */
  maxMatches?: number;
  /** Larger files are not searched. Default: 10 MiB. */
  maxFileBytes?: number;
  /** Time limit of a search in milliseconds. Default: 10,000. */
  timeLimitMs?: number;
}

interface Args {
  pattern: string;
  path?: string;
  glob?: string;
  ignoreCase?: boolean;
  literal?: boolean;
  includeIgnored?: boolean;
}

const optionChecks = membersOf<SearchFilesOptions>(
  {
    ...fileToolChecks,
    maxMatches: count,
    maxFileBytes: from0,
    timeLimitMs: from0,
  },
  ["root"],
);

/** The tool `search_files`. */
export function searchFiles(options: SearchFilesOptions): Tool {
  checkGiven(optionChecks, options, "searchFiles");
  const { root } = fileToolSet(options.root);
  const maxFileBytes = options.maxFileBytes ?? 10 * 1024 * 1024;
  const timeLimitMs = options.timeLimitMs ?? 10_000;
  return tool({
    name: "search_files",
    description:
      "Finds the lines of text files that match a JavaScript regular expression, line by line, as path:line: text. " +
      "The first line counts all matching lines and files. Files that git ignores, binary files and files over " +
      `${sized(maxFileBytes)} are not searched.`,
    inputSchema: {
      type: "object",
      properties: {
        pattern: {
          type: "string",
          minLength: 1,
          maxLength: 10_000,
          description:
            "A JavaScript regular expression, without slashes around it; or plain text when literal is true.",
        },
        path: { type: "string", description: "A folder to search, or one file. Default: the root." },
        glob: {
          type: "string",
          maxLength: 1000,
          description:
            'Search only files that match, such as "*.ts", "src/**/*.ts" or "!*.test.ts", relative to path.',
        },
        ignoreCase: { type: "boolean", description: "Default: false." },
        literal: { type: "boolean", description: "Treat the pattern as plain text. Default: false." },
        includeIgnored: {
          type: "boolean",
          description: "Also search what git ignores and node_modules. Default: false.",
        },
      },
      required: ["pattern"],
    },
    effect: "read",
    permission: options.permission ?? "allow",
    timeoutMs: timeLimitMs + 10_000,
    execute: (args, context) =>
      answering(context, args.path ?? ".", async () => {
        const order = orderOf(root, args, { maxMatches: options.maxMatches ?? 200, maxFileBytes });
        const found = await searched(order, timeLimitMs, context.signal);
        return told(found, order, args, timeLimitMs);
      }),
  });
}

/** @throws Refusal when nothing exists at the path, or the pattern or the glob is invalid */
function orderOf(
  root: Root,
  args: Args,
  bounds: Pick<SearchOrder, "maxMatches" | "maxFileBytes">,
): SearchOrder {
  const place = meant(root, args.path ?? ".");
  if (!place.exists) throw root.notThere("file", place);
  const glob = relativeGlob(args.glob, root, place);
  if (glob !== undefined) compiled(glob);
  return {
    root: root.real,
    path: place.shown,
    ...expressionOf(args.pattern, args.literal ?? false, args.ignoreCase ?? false),
    ...(args.literal || !/[()[\]{}+*?|^$.]/.test(args.pattern) ? {} : { plain: args.pattern }),
    ...(glob === undefined ? {} : { glob }),
    includeIgnored: args.includeIgnored ?? false,
    ...bounds,
    at: new SharedArrayBuffer(4 + 4096),
  };
}

function told(
  { lines, news, stoppedIn }: Found,
  order: SearchOrder,
  args: Args,
  timeLimitMs: number,
): ToolResult {
  const skipped = [
    ...(news.binary > 0 ? [`${counted(news.binary, "binary file")} skipped`] : []),
    ...(news.large > 0 ? [`${counted(news.large, "file")} over ${sized(order.maxFileBytes)} skipped`] : []),
    ...(news.unreadable > 0
      ? [`${counted(news.unreadable, "file or folder", "files or folders")} could not be read`]
      : []),
  ];
  const scope = [`${counted(news.searched, "file")} searched in ${shown(order.path)}`, ...skipped].join("; ");
  const count = `${counted(news.matches, "matching line")} in ${counted(news.files, "file")}`;
  const shownLines = lines.map((one) => `${shown(one.path)}:${one.line}: ${one.text}`);
  const more =
    news.matches > lines.length
      ? [
          `[the first ${counted(lines.length, "matching line")} of ${news.matches.toLocaleString("en-US")}; path, glob or pattern can narrow the search]`,
        ]
      : [];
  if (stoppedIn === undefined)
    return toolResult(
      [`${count} (${scope})`, ...shownLines, ...more, ...whyNothing(news, order, args)].join("\n"),
    );
  const where = stoppedIn === "" ? "" : ` while it was in ${shown(stoppedIn)}`;
  return toolResult(
    [
      `Error: the search was stopped after ${timeLimitMs / 1000} s${where}: the pattern may need exponential time, or there is too much to search`,
      `until then at least ${count} (${scope})`,
      ...shownLines,
      ...more,
    ].join("\n"),
    { isError: true },
  );
}

/** Possible reasons why a search found nothing. */
function whyNothing(news: SearchNews, order: SearchOrder, args: Args): string[] {
  if (news.matches > 0) return [];
  const notes = otherMeanings(args.pattern, args.literal ?? false);
  if (news.searched === 0 && order.glob !== undefined) notes.push(globNote("glob", order.glob, order.path));
  if (news.ignored > 0)
    notes.push(
      `${counted(news.ignored, "ignored entry was", "ignored entries were")} left out; includeIgnored searches them`,
    );
  if (news.plain > 0)
    notes.push(
      `${counted(news.plain, "file has", "files have")} the pattern as plain text; literal: true searches for it so`,
    );
  if (news.foreign > 0)
    notes.push(
      `${counted(news.foreign, "file is", "files are")} not in UTF-8, where characters beyond ASCII are not found: search for others`,
    );
  if (news.links > 0)
    notes.push(
      `${counted(news.links, "link was", "links were")} not followed; a path through one is, if it leads to something under the root`,
    );
  return notes.map((note) => `[${note}]`);
}
