// The room of counting: instructions of a cell's whole process (start and imports included), by purpose.
//
// Valgrind counts them, whatever else the machine does: two counts of one subject differ by one per cent, processor
// time by ten. They do not tell how long an instruction takes.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Failure } from "./contest.ts";
import { OtherWork, runCell } from "./run-cell.ts";
import type { ContestServer } from "./server.ts";
import { type Subject, subjectNamed } from "./subjects.ts";

/** What V8 does besides running the program, by the names of its functions. Everything else counts as running it. */
const purposes = {
  collecting:
    /Scaveng|Mark(?:ing|Compact)|Sweep|Evacuat|Worklist|BodyDescriptor|\bHeap::|GCTracer|RememberedSet/,
  optimising: /turboshaft|internal::compiler|maglev|Turbofan/i,
  parsing: /Scanner|Parser|AstValue|AstRaw|CharacterStream|BytecodeGenerator|interpreter::Bytecode|\bScope::/,
} as const;

type Purpose = keyof typeof purposes;

/** Instructions, in millions. */
export interface Counted {
  total: number;
  /** The share of garbage collection. */
  collecting: number;
  /** The share of the two optimising compilers, mostly off the main thread. */
  optimising: number;
  /** The share of turning source text into bytecode. */
  parsing: number;
}

export interface Count extends Counted {
  scenario: string;
  subject: string;
  protocol: Subject["protocol"];
  /** Relative to the floor. Absent if the floor was not counted. */
  ratio?: number;
}

/** Parses cachegrind's output: a line `fn=` per function, followed by a line with a position and a count for each of its lines. */
export function countedIn(written: string): Counted {
  const counted: Counted = { total: 0, collecting: 0, optimising: 0, parsing: 0 };
  let purpose: Purpose | undefined;
  for (const line of written.split("\n")) {
    if (line.startsWith("fn=")) {
      purpose = (Object.keys(purposes) as Purpose[]).find((one) => purposes[one].test(line));
      continue;
    }
    const [, digits] = /^\d+ (\d+)$/.exec(line) ?? [];
    if (digits === undefined) continue;
    const millions = Number(digits) / 1e6;
    counted.total += millions;
    if (purpose !== undefined) counted[purpose] += millions;
  }
  return counted;
}

export interface CountOptions {
  server: ContestServer;
  scenarios: readonly string[];
  subjects: readonly Subject[];
  /** For the cells' processes. */
  nodeFlags?: readonly string[];
  /** Called when a cell has ended. */
  say?: (line: string) => void;
}

/** Fair scheduling of threads: otherwise code optimised in the background arrives only when the main thread happens to wait. */
const counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--fair-sched=yes"];
/** A process under Valgrind takes some fifty times as long. */
const limitMs = 1_800_000;

/**
 * Counts every subject of every scenario once.
 * @throws Error when Valgrind is not installed
 */
export async function count(options: CountOptions): Promise<{ counts: Count[]; failures: Failure[] }> {
  if (spawnSync("valgrind", ["--version"]).status !== 0)
    throw new Error("instructions are counted by Valgrind, and there is none: apt-get install valgrind");
  const { server, scenarios, subjects, nodeFlags = [], say } = options;
  const counts: Count[] = [];
  const failures: Failure[] = [];
  const folder = mkdtempSync(join(tmpdir(), "rondo-count-"));
  try {
    for (const scenario of scenarios)
      for (const subject of subjects) {
        const { name, protocol } = subject;
        const why = subject.cannot?.[scenario];
        if (why !== undefined) {
          failures.push({ scenario, subject: name, kind: "cannot", why });
          continue;
        }
        const file = join(folder, `${scenario}-${name}`);
        const under = [...counter, `--cachegrind-out-file=${file}`];
        try {
          await runCell(server, scenario, subject, { nodeFlags, under, limitMs });
          const counted = countedIn(readFileSync(file, "utf8"));
          counts.push({ scenario, subject: name, protocol, ...counted });
          say?.(`${scenario} ${name}: ${counted.total.toFixed(0)} million instructions`);
        } catch (thrown) {
          if (!(thrown instanceof OtherWork)) throw thrown;
          failures.push({ scenario, subject: name, kind: "failed", why: thrown.message });
          say?.(`${scenario} ${name}: ${thrown.message}`);
        }
      }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { counts: counts.map((one) => besideFloor(one, counts)), failures };
}

function besideFloor(one: Count, counts: readonly Count[]): Count {
  const { floor } = subjectNamed(one.subject);
  const unit = counts.find(({ scenario, subject }) => scenario === one.scenario && subject === floor);
  return unit === undefined ? one : { ...one, ratio: one.total / unit.total };
}

export const countColumns = ["", "", "million instructions", "ratio", "collecting", "optimising", "parsing"];

/** The rows of a scenario for a terminal. */
export function countRows(asked: string, counts: readonly Count[]): string[][] {
  return counts
    .filter(({ scenario }) => scenario === asked)
    .map(({ subject, protocol, total, ratio, collecting, optimising, parsing }) => [
      subjectNamed(subject).title,
      protocol,
      total.toFixed(0),
      ratio?.toFixed(2) ?? "",
      ...[collecting, optimising, parsing].map((some) => some.toFixed(0)),
    ]);
}
