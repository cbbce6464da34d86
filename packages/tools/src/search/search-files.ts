// The room of search_files: lines that match a regular expression, within a hard time bound.
//
// A regular expression can take longer than the universe lasts, and nothing in the same thread can stop it. So the
// search has a thread of its own, which is ended when its time is up; what it had found until then is told.

import { type Tool, type ToolResult, tool, toolResult } from "@rondo/core";
import { checkGiven, count, from0, membersOf } from "@rondo/core/checks";
import { type FileToolOptions, fileToolChecks, fileToolSet } from "../options.ts";
import { compiled, globNote, relativeGlob } from "../paths/given-glob.ts";
import { meant } from "../paths/given-path.ts";
import type { Root } from "../paths/root.ts";
import { counted, Refusal, shown, sized } from "../reasons.ts";
import { answering } from "../refusal.ts";
import { afterMs } from "../timer.ts";
import { type FoundLine, noNews, type SearchNews, type SearchOrder } from "./order.ts";
import { expressionOf, otherMeanings } from "./pattern.ts";

export interface SearchFilesOptions extends FileToolOptions {
  /** Matching lines shown at most; all are counted. Default: 200. */
  maxMatches?: number;
  /** Larger files are not searched. Default: 10 MiB. */
  maxFileBytes?: number;
  /** Milliseconds a search may take. Default: 10,000. */
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
            "A JavaScript regular expression, without slashes around it; or a plain text when literal is true.",
        },
        path: { type: "string", description: "A folder to search, or one file. Default: the root." },
        glob: {
          type: "string",
          maxLength: 1000,
          description:
            'Search only files that match, such as "*.ts", "src/**/*.ts" or "!*.test.ts", relative to path.',
        },
        ignoreCase: { type: "boolean", description: "Default: false." },
        literal: { type: "boolean", description: "Take the pattern as plain text. Default: false." },
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

/** @throws Refusal when there is nothing at the path, or the pattern or the glob is none */
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
    ...(glob === undefined ? {} : { glob }),
    includeIgnored: args.includeIgnored ?? false,
    ...bounds,
    at: new SharedArrayBuffer(4 + 4096),
  };
}

interface Found {
  lines: FoundLine[];
  news: SearchNews;
  /** The file the search was in when its time was up. */
  stoppedIn: string | undefined;
}

async function searched(order: SearchOrder, timeLimitMs: number, signal: AbortSignal): Promise<Found> {
  const { Worker } = await import("node:worker_threads");
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Found>();
  const lines: FoundLine[] = [];
  let news: SearchNews = { ...noNews, lines: [] };
  // Below this file as a source, and below the one file that all are in when they are compiled.
  const file = import.meta.url.endsWith(".ts") ? "./worker/main.ts" : "./search/worker/main.js";
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    // What this process was started with is not for the thread: `--input-type` alone would keep it from starting.
    execArgv: [],
    env: {},
    stderr: true,
    stdout: true,
  });
  let settled = false;
  const settle = (act: () => void): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
    // The thread is gone before the call has its result: nothing of it runs on behind the model's back.
    worker.terminate().then(act, act);
  };
  const aborted = (): void => settle(() => reject(signal.reason));
  const stop = (): void => {
    const length = new DataView(order.at).getUint32(0);
    const stoppedIn = new TextDecoder().decode(new Uint8Array(order.at, 4, length).slice());
    settle(() => resolve({ lines, news, stoppedIn }));
  };
  // For the thread to begin; from then on the search has its time, however long a busy machine took to start a thread.
  let timer = afterMs(timeLimitMs + startMs, stop);
  signal.addEventListener("abort", aborted, { once: true });
  worker.on("message", (message: SearchNews | "begun" | "done") => {
    if (settled) return;
    if (message === "begun") {
      clearTimeout(timer);
      timer = afterMs(timeLimitMs, stop);
    } else if (message === "done") settle(() => resolve({ lines, news, stoppedIn: undefined }));
    else {
      news = message;
      // One by one: of a single file there may be more than a call takes arguments.
      for (const line of message.lines) lines.push(line);
    }
  });
  worker.on("error", (thrown: unknown) => {
    const memory = (thrown as { code?: unknown }).code === "ERR_WORKER_OUT_OF_MEMORY";
    settle(() =>
      reject(memory ? new Refusal("the search needed too much memory; nothing is known") : asRefusal(thrown)),
    );
  });
  worker.on("exit", () => settle(() => reject(new Error("the search's thread ended without an answer"))));
  if (signal.aborted) aborted();
  return promise;
}

/** Milliseconds a thread may take to begin. */
const startMs = 5_000;

/** A refusal crosses a thread as a plain error with a name. */
function asRefusal(thrown: unknown): unknown {
  return thrown instanceof Error && thrown.name === "Refusal" ? new Refusal(thrown.message) : thrown;
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

/** What may have kept a search from finding anything. */
function whyNothing(news: SearchNews, order: SearchOrder, args: Args): string[] {
  if (news.matches > 0) return [];
  const notes = otherMeanings(args.pattern, args.literal ?? false);
  if (news.searched === 0 && order.glob !== undefined) notes.push(globNote("glob", order.glob, order.path));
  if (news.ignored > 0)
    notes.push(
      `${counted(news.ignored, "ignored entry was", "ignored entries were")} left out; includeIgnored searches them`,
    );
  return notes.map((note) => `[${note}]`);
}
