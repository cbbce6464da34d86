// The room of the contest's command: prepares, runs, prints.

import { resolve } from "node:path";
import { printTable } from "../measure.ts";
import { columns, contest, type Failure, growthOf, rowsOf } from "./contest.ts";
import { importTimes } from "./import-times.ts";
import { count, countColumns, countRows } from "./instructions.ts";
import { plans } from "./plan.ts";
import { readyPeers, readyRondo } from "./ready.ts";
import { keep, render } from "./report.ts";
import { type ContestServer, startContestServer } from "./server.ts";
import { sizeOf } from "./sizes.ts";
import { type Subject, subjectNamed, subjects } from "./subjects.ts";
import { type Outcome, verdictOf } from "./verdict.ts";

export interface ContestCommand {
  /** Scenarios of the plan, and `install-size`. */
  scenarios: readonly string[];
  /** Default: all. */
  subjects: readonly string[] | undefined;
  /** Rounds, three times as many where cells are short. Default: 5. */
  runs: number | undefined;
  /** Rounds in which peers take part. Default: 2. */
  peerRuns: number | undefined;
  json: boolean;
  /** Run everything the bounds need, whatever scenarios and subjects are named. */
  verdict: boolean;
  write: boolean;
  /** Folder for CPU profiles. */
  cpuProf: string | undefined;
  /** Count instructions instead of measuring time. */
  instructions: boolean;
}

/** How many times as many rounds short cells have. */
const timesIfShort = 3;

/** Runs the contest, or counts, and prints the outcome. Returns the exit code: 1 when a subject failed, or a bound is not kept. */
export async function runContest(command: ContestCommand): Promise<number> {
  if (command.instructions) return countInstructions(command);
  const { verdict, json } = command;
  const scenarios = verdict ? [...Object.keys(plans), "install-size"] : command.scenarios;
  const taking = verdict ? subjects : (command.subjects?.map(subjectNamed) ?? subjects);
  const rounds = command.runs ?? 5;
  const from = performance.now();
  const server = await readyServer(taking);
  let outcome: Outcome;
  try {
    outcome = await contest({
      server,
      scenarios: scenarios.filter((name) => name in plans),
      subjects: taking,
      rounds,
      shortRounds: rounds * timesIfShort,
      peerRounds: command.peerRuns ?? Math.min(2, rounds),
      nodeFlags:
        command.cpuProf === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${resolve(command.cpuProf)}`],
      say,
    });
  } finally {
    await server.close();
  }
  if (scenarios.includes("install-size"))
    outcome.sizes = taking.filter(({ packages }) => packages.length > 0).map(sizeOf);
  if (verdict) outcome.imports = importTimes(Math.max(11, rounds));
  if (command.write) {
    keep(outcome);
    render();
  }
  if (json) printJson(outcome);
  else if (!verdict) print(outcome, scenarios);
  say(`took ${((performance.now() - from) / 60_000).toFixed(1)} minutes`);
  const failed = outcome.failures.some(({ kind }) => kind === "failed");
  if (!verdict) return failed ? 1 : 0;
  const lines = verdictOf(outcome);
  for (const { ok, bound, figures } of lines)
    console.log(
      json ? JSON.stringify({ verdict: bound, ok, figures }) : `${ok ? "ok" : "not ok"} ${bound}: ${figures}`,
    );
  return lines.every(({ ok }) => ok) ? 0 : 1;
}

async function countInstructions({ scenarios, subjects: named, json }: ContestCommand): Promise<number> {
  const taking = named?.map(subjectNamed) ?? subjects;
  const asked = scenarios.filter((name) => name in plans);
  const server = await readyServer(taking);
  const { counts, failures } = await count({ server, scenarios: asked, subjects: taking, say }).finally(() =>
    server.close(),
  );
  if (json) for (const one of [...counts, ...failures]) console.log(JSON.stringify(one));
  else
    for (const scenario of asked) {
      console.log(`\n${scenario}\n`);
      printTable(countColumns, countRows(scenario, counts));
      printFailures(scenario, failures);
    }
  return failures.some(({ kind }) => kind === "failed") ? 1 : 0;
}

const say = (line: string): void => console.error(line);

async function readyServer(taking: readonly Subject[]): Promise<ContestServer> {
  say("getting ready: a build of Rondo, the peers' packages");
  await readyRondo();
  if (taking.some(({ kind }) => kind === "peer")) await readyPeers();
  return startContestServer();
}

function printFailures(scenario: string, failures: readonly Failure[]): void {
  for (const one of failures.filter((failure) => failure.scenario === scenario))
    console.log(`${subjectNamed(one.subject).title}: ${one.kind}: ${one.why}`);
}

function printJson({ figures, failures, sizes = [], imports }: Outcome): void {
  for (const one of [...figures, ...failures]) console.log(JSON.stringify(one));
  for (const one of sizes) console.log(JSON.stringify({ scenario: "install-size", ...one }));
  if (imports !== undefined) console.log(JSON.stringify({ scenario: "imports", ...imports }));
}

function print({ figures, failures, sizes = [] }: Outcome, scenarios: readonly string[]): void {
  for (const scenario of scenarios) {
    if (!(scenario in plans)) continue;
    console.log(`\n${scenario}\n`);
    printTable(columns, rowsOf(scenario, figures));
    printFailures(scenario, failures);
  }
  const growths = subjects.flatMap(({ name, title, protocol }) => {
    const growth = growthOf(figures, name);
    return growth === undefined ? [] : [[title, protocol, growth.toFixed(3)]];
  });
  if (growths.length > 0) {
    console.log("\ngrowth of CPU from 50 to 1,000 steps, as an exponent\n");
    printTable(["", "", "exponent"], growths);
  }
  if (sizes.length > 0) {
    console.log("\ninstall size\n");
    printTable(
      ["", "", "MB", "packages"],
      sizes.map(({ subject, bytes, packages }) => [
        subjectNamed(subject).title,
        subjectNamed(subject).protocol,
        (bytes / 1e6).toFixed(1),
        String(packages),
      ]),
    );
  }
}
