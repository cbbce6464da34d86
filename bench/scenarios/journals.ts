// The room of journals: how long a step waits for its journal, and how long it takes to read a long session back.
//
// A real run with a model and a tool that cost next to nothing; every append is timed. A step's cost is the sum of its
// appends: one before the model call, one before the tool runs. Disks differ more than code: the floor of a durable
// journal is one write and one fdatasync of as many bytes to a plain file.

import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, emptyState, type Journal, memoryJournal, reduceAll, resolve } from "@rondo/core";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import type { Figure } from "../measure.ts";
import type { Scenario } from "../scenario.ts";
import { callAt, doneAnswer, look, stepping } from "../stepping.ts";

/** Runs some steps in session `s` and returns each step's time in the journal: CPU and wall, in microseconds. */
async function spent(journal: Journal, steps: number): Promise<{ cpu: number; wall: number }[]> {
  const each: { cpu: number; wall: number }[] = [];
  const timed: Journal = {
    append(session, seq, records, token) {
      const cpuFrom = process.cpuUsage();
      const from = performance.now();
      void journal.append(session, seq, records, token);
      const wall = (performance.now() - from) * 1000;
      const { user, system } = process.cpuUsage(cpuFrom);
      if (records.some((record) => record.type === "model_started")) each.push({ cpu: 0, wall: 0 });
      const step = each.at(-1);
      if (step === undefined) return;
      step.cpu += user + system;
      step.wall += wall;
    },
    read: (session, from) => journal.read(session, from),
    list: () => journal.list(),
    ...(journal.lease === undefined
      ? {}
      : { lease: (session, request) => journal.lease?.(session, request) as never }),
  };
  // Calls the tool until that many answers were given.
  const model = stepping((step) => (step < steps ? callAt(step) : doneAnswer()));
  const agent = new Agent({ model, tools: [look], journal: timed, maxSteps: steps + 1 });
  const { end } = await agent.run("go", { session: "s" });
  if (end?.reason !== "completed") throw new Error(`the run ended with ${end?.reason}`);
  return each.slice(1, -1);
}

/** One write and one fdatasync of as many bytes, twice per step. */
function plainFile(folder: string, steps: number): { cpu: number; wall: number }[] {
  const file = openSync(join(folder, "plain"), "a");
  const bytes = Buffer.alloc(1_200, 120);
  const each = Array.from({ length: steps }, () => {
    const cpuFrom = process.cpuUsage();
    const from = performance.now();
    for (let half = 0; half < 2; half += 1) {
      writeSync(file, bytes);
      fdatasyncSync(file);
    }
    const { user, system } = process.cpuUsage(cpuFrom);
    return { cpu: user + system, wall: (performance.now() - from) * 1000 };
  });
  closeSync(file);
  return each;
}

const at = (values: readonly number[], share: number): number =>
  [...values].sort((one, other) => one - other)[
    Math.min(values.length - 1, Math.floor(values.length * share))
  ] ?? Number.NaN;
const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

export const journals: Scenario = {
  about:
    "what a step waits for its journal, beside two plain writes with fdatasync; reading a session back, beside memory",
  unit: "step",
  rounds: 3,
  async *run(rounds): AsyncGenerator<Figure[]> {
    const folder = mkdtempSync(join(tmpdir(), "rondo-bench-"));
    try {
      const steps = 500;
      const taken = new Map<string, { cpu: number; wall: number }[]>();
      const take = (subject: string, each: { cpu: number; wall: number }[]): void =>
        void taken.set(subject, [...(taken.get(subject) ?? []), ...each]);
      for (let round = 0; round < rounds; round += 1) {
        take("2 writes, 2 fdatasyncs", plainFile(folder, steps));
        take("memory", await spent(memoryJournal(), steps));
        const sqlite = sqliteJournal(join(folder, `${round}.db`));
        take("SQLite, full sync", await spent(sqlite, steps));
        sqlite.close();
        const jsonl = jsonlJournal(join(folder, `${round}`));
        take("JSONL, fdatasync", await spent(jsonl, steps));
        jsonl.close();
      }
      for (const [title, share] of [
        ["median", 0.5],
        ["p99", 0.99],
      ] as const) {
        const floor = at(
          (taken.get("2 writes, 2 fdatasyncs") ?? []).map(({ wall }) => wall),
          share,
        );
        yield [...taken].map(([subject, each]): Figure => {
          const wall = at(
            each.map((one) => one.wall),
            share,
          );
          return {
            title: `${title}, ratio of wall`,
            subject,
            cpu: mean(each.map((one) => one.cpu)),
            wall,
            ratio: wall / floor,
          };
        });
      }
      yield* resumes(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Reading and folding a session of some number of steps. */
async function* resumes(folder: string): AsyncGenerator<Figure[]> {
  for (const steps of [1_000, 10_000]) {
    const memory = memoryJournal();
    await spent(memory, steps);
    const records = memory.read("s");
    const { rules } = resolve({ model: stepping(callAt), tools: [look] });
    const figures: Figure[] = [];
    const sqlite = sqliteJournal(join(folder, `resume-${steps}.db`));
    const jsonl = jsonlJournal(join(folder, `resume-${steps}`));
    for (const [subject, journal] of [
      ["memory", memory],
      ["SQLite", sqlite],
      ["JSONL", jsonl],
    ] as const) {
      if (journal !== memory)
        for (let from = 0; from < records.length; from += 5)
          journal.append("s", from, records.slice(from, from + 5));
      globalThis.gc?.();
      const cpuFrom = process.cpuUsage();
      const from = performance.now();
      const state = reduceAll(journal.read("s"), rules, emptyState);
      const wall = ((performance.now() - from) * 1000) / steps;
      const { user, system } = process.cpuUsage(cpuFrom);
      if (state.seq !== records.length)
        throw new Error(`${subject} gave ${state.seq} of ${records.length} records`);
      const cpu = (user + system) / steps;
      figures.push({
        title: `resume, ${steps} steps`,
        subject,
        cpu,
        wall,
        ratio: cpu / (figures[0]?.cpu ?? cpu),
      });
    }
    sqlite.close();
    jsonl.close();
    yield figures;
  }
}
