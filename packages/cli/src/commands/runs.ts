// The room of `rondo runs`: lists the journal's runs, newest first.
//
// A sub-agent's run is listed below its parent's, and counts as part of it.

import { existsSync } from "node:fs";
import type { Paint, Style } from "../console/console.ts";
import { failureOf, UsageError } from "../console/failure.ts";
import { jsonLine, plainText } from "../console/plain-text.ts";
import { oneLine } from "../console/shorten.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Command, journalOption } from "../line/command.ts";
import { rondo } from "../line/command-name.ts";
import { counted, timeText } from "../render/usage.ts";
import { journalPlace, openKnownJournal } from "../runs/journal-place.ts";
import { parentIn } from "../runs/sub-agents.ts";
import { type RunSummary, summaryOf } from "../summary.ts";

const usualLimit = 20;

export const runs: Command = {
  name: "runs",
  words: "",
  does: "List the runs of the journal, the newest first",
  maxWords: 0,
  options: {
    limit: { type: "string", short: "n", value: "N", does: `How many at most. Default: ${usualLimit}` },
    all: { type: "boolean", does: "All of them" },
    json: { type: "boolean", does: "Print one JSON object per line" },
    ...journalOption,
  },
  async act(args, console) {
    const limit = args.wholeNumber("limit");
    if (limit !== undefined && args.has("all"))
      throw new UsageError("--limit and --all exclude each other; give one");
    const place = journalPlace(args, console.env);
    if (place.named === "default" && !existsSync(place.file)) {
      console.errorLine(`no runs yet; ${rondo} run makes the journal ${place.file}`);
      return exitCodes.completed;
    }
    let unreadable = 0;
    const warn = (message: string): void => {
      unreadable += 1;
      console.warn(message);
    };
    const journal = await openKnownJournal(place, { warn }, "to read");
    try {
      const sessions = await journal.list();
      const own = underParents(sessions.map(({ id }) => id));
      const shown = args.has("all") ? own : own.slice(0, limit ?? usualLimit);
      for (const { id, depth } of shown.flat()) {
        try {
          const summary = summaryOf(id, await journal.read(id));
          console.line(
            args.has("json")
              ? jsonLine(asJson(summary))
              : asLine(summary, depth, console.paint, console.width),
          );
        } catch (thrown) {
          // One damaged run must not hide the others.
          unreadable += 1;
          console.errorLine(failureOf(thrown, console.env).line);
        }
      }
      const more = own.length - shown.length;
      if (sessions.length === 0 && unreadable === 0)
        console.errorLine(`there are no runs in the journal ${place.file} yet`);
      if (more > 0 && !args.has("json")) console.errorLine(`${counted(more, "older run")}; --all lists them`);
      return unreadable === 0 ? exitCodes.completed : exitCodes.error;
    } finally {
      await journal.close();
    }
  },
};

interface Listed {
  id: string;
  /** How many levels below a top-level run. */
  depth: number;
}

/** Every run without a listed parent, each followed by its sub-agents' runs, in the order given. */
function underParents(ids: readonly string[]): Listed[][] {
  const known = new Set(ids);
  const below = new Map<string | undefined, string[]>();
  for (const id of ids) {
    const parent = parentIn(id, known);
    const list = below.get(parent);
    if (list === undefined) below.set(parent, [id]);
    else list.push(id);
  }
  const tree = (id: string, depth: number): Listed[] => [
    { id, depth },
    // Top-level runs are newest first, but sub-agents' runs are shown in the order they were started.
    ...(below.get(id) ?? []).toReversed().flatMap((child) => tree(child, depth + 1)),
  ];
  return (below.get(undefined) ?? []).map((id) => tree(id, 0));
}

function asJson({ id, startedAt, steps, status, task, parent }: RunSummary): object {
  const whose = parent === undefined ? {} : { parent };
  return { id, startedAt: new Date(startedAt).toISOString(), steps, status, task, ...whose };
}

const styles: { readonly [status: string]: Style } = {
  completed: "green",
  done_tool: "green",
  error: "red",
  running: "cyan",
};

/** One line of the list: id, start, steps, how it ended, beginning of the task; indented for a sub-agent. */
function asLine(summary: RunSummary, depth: number, paint: Paint, width: number): string {
  const { id, startedAt, steps, status, parent } = summary;
  const task =
    parent === undefined || depth > 0 ? summary.task : `(sub-agent of ${plainText(parent)}) ${summary.task}`;
  const start = `${"  ".repeat(depth)}${depth > 0 ? "└ " : ""}${plainText(id).padEnd(8)}  ${timeText(startedAt)}  ${counted(steps, "step").padStart(8)}  `;
  const state = status.padEnd(12);
  const words = oneLine(task, Math.max(20, width - start.length - state.length - 2));
  return `${start}${paint(styles[status] ?? "yellow", state)}  ${words}`.trimEnd();
}
