// The room of `rondo runs`: what the journal holds, the newest first.

import { existsSync } from "node:fs";
import { type Command, journalOption } from "../command.ts";
import type { Paint, Style } from "../console.ts";
import { exitCodes } from "../exit-codes.ts";
import { failureOf, UsageError } from "../failure.ts";
import { journalPlace, openKnownJournal } from "../journal-place.ts";
import { jsonLine } from "../plain-text.ts";
import { counted, timeText } from "../render/usage.ts";
import { oneLine } from "../shorten.ts";
import { type RunSummary, summaryOf } from "../summary.ts";

const usualLimit = 20;

export const runs: Command = {
  name: "runs",
  words: "",
  does: "List the runs of the journal, the newest first",
  maxWords: 0,
  options: {
    limit: { type: "string", short: "n", value: "N", does: `At most so many. Default: ${usualLimit}` },
    all: { type: "boolean", does: "All of them" },
    json: { type: "boolean", does: "Print one JSON object a line" },
    ...journalOption,
  },
  async act(args, console) {
    const limit = args.wholeNumber("limit");
    if (limit !== undefined && args.has("all"))
      throw new UsageError("--limit and --all exclude each other; give one");
    const place = journalPlace(args, console.env);
    if (place.named === "default" && !existsSync(place.file)) {
      console.errorLine(`no runs yet; rondo run makes the journal ${place.file}`);
      return exitCodes.completed;
    }
    const journal = openKnownJournal(place);
    try {
      const sessions = journal.list();
      const shown = args.has("all") ? sessions : sessions.slice(0, limit ?? usualLimit);
      let unreadable = 0;
      for (const { id } of shown) {
        try {
          const summary = summaryOf(id, journal.read(id));
          console.line(
            args.has("json") ? jsonLine(asJson(summary)) : asLine(summary, console.paint, console.width),
          );
        } catch (thrown) {
          // One damaged run must not hide the others.
          unreadable += 1;
          console.errorLine(failureOf(thrown, console.env).line);
        }
      }
      const more = sessions.length - shown.length;
      if (sessions.length === 0) console.errorLine(`there are no runs in the journal ${place.file} yet`);
      if (more > 0 && !args.has("json")) console.errorLine(`${counted(more, "older run")}; --all lists them`);
      return unreadable === 0 ? exitCodes.completed : exitCodes.error;
    } finally {
      await journal.close();
    }
  },
};

function asJson({ id, startedAt, steps, status, task }: RunSummary): object {
  return { id, startedAt: new Date(startedAt).toISOString(), steps, status, task };
}

const styles: { readonly [status: string]: Style } = {
  completed: "green",
  done_tool: "green",
  error: "red",
  running: "cyan",
};

/** One line of the list: id, when, steps, how it ended, the first words of the task. */
function asLine(summary: RunSummary, paint: Paint, width: number): string {
  const { id, startedAt, steps, status, task } = summary;
  const start = `${id.padEnd(8)}  ${timeText(startedAt)}  ${counted(steps, "step").padStart(8)}  `;
  const state = status.padEnd(12);
  const words = oneLine(task, Math.max(20, width - start.length - state.length - 2));
  return `${start}${paint(styles[status] ?? "yellow", state)}  ${words}`.trimEnd();
}
