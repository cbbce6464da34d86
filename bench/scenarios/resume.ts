// The room of resuming: a session left in the middle of its run is opened by another process.
//
// Everything a resume does: open the journal's file, read and fold the session, take it over, release its lease. The
// floor is reading the same bytes and parsing them as JSON, which no text format can avoid.

import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, type Journal, type LogRecord, memoryJournal } from "@rondo/core";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import { type Figure, measure } from "../measure.ts";
import type { Scenario } from "../scenario.ts";
import { callAt, look, stepping } from "../stepping.ts";

/** Nothing is cut or summarized: the length of the history is what is measured. */
const options = {
  tools: [look],
  context: { cap: null, trim: null, prune: null, guard: null, compaction: null },
};

/** The records of a run of some number of steps, without its end. */
async function leftAfter(steps: number): Promise<LogRecord[]> {
  const journal = memoryJournal();
  const model = stepping(callAt);
  await new Agent({ ...options, model, journal, maxSteps: steps, onLimit: "stop" }).run("go", {
    session: "s",
  });
  const records = journal.read("s");
  return records.slice(
    0,
    records.findLastIndex((record) => record.type === "tool_finished"),
  );
}

async function comeBack(journal: Journal): Promise<number> {
  const session = await new Agent({ ...options, model: stepping(callAt), journal }).open("s");
  if (session.status !== "interrupted") throw new Error(`the session is ${session.status}`);
  await journal.close?.();
  return session.state.seq;
}

export const resume: Scenario = {
  about:
    "coming back to a run that a process left: open the file, read, fold, take over; beside parsing the records",
  unit: "step",
  rounds: 5,
  async *run(rounds): AsyncGenerator<Figure[]> {
    const folder = mkdtempSync(join(tmpdir(), "rondo-resume-"));
    try {
      for (const steps of [100, 1_000, 10_000]) {
        const records = await leftAfter(steps);
        const texts = records.map((record) => JSON.stringify(record));
        const home = join(folder, String(steps));
        mkdirSync(home);
        const sqlite = sqliteJournal(join(home, "whole.db"));
        const jsonl = jsonlJournal(join(home, "whole"));
        for (let from = 0; from < records.length; from += 1_000)
          for (const journal of [sqlite, jsonl]) journal.append("s", from, records.slice(from, from + 1_000));
        sqlite.close();
        jsonl.close();
        let copies = 0;
        // Taking over writes: so each time it is a fresh copy.
        const subjects = {
          "parsing the records": () =>
            Promise.resolve(
              texts.reduce((seq, text) => Math.max(seq, (JSON.parse(text) as LogRecord).seq + 2), 0),
            ),
          SQLite: () => {
            const file = join(home, `${++copies}.db`);
            copyFileSync(join(home, "whole.db"), file);
            return comeBack(sqliteJournal(file));
          },
          JSONL: () => {
            const place = join(home, String(++copies));
            cpSync(join(home, "whole"), place, { recursive: true });
            return comeBack(jsonlJournal(place));
          },
        };
        yield await measure(
          { title: `${steps} steps`, floor: "parsing the records", per: steps, subjects },
          rounds,
        );
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
