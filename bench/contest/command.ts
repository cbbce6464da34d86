// The room of the contest's command: gets ready, runs, prints.

import { resolve } from "node:path";
import { printTable } from "../measure.ts";
import { columns, contest, type Failure, type Figure, growthOf, rowsOf } from "./contest.ts";
import { readyPeers, readyRondo } from "./ready.ts";
import { startContestServer } from "./server.ts";
import { subjectNamed, subjects } from "./subjects.ts";

export interface ContestCommand {
  scenarios: readonly string[];
  /** Default: all. */
  subjects: readonly string[] | undefined;
  /** Rounds. Default: 5. */
  runs: number | undefined;
  /** Rounds of which peers take part. Default: 3, or `runs` where that is less. */
  peerRuns: number | undefined;
  json: boolean;
  verdict: boolean;
  write: boolean;
  /** A folder for profiles. */
  cpuProf: string | undefined;
}

/** Runs the contest and prints it. Returns the exit code. */
export async function runContest(command: ContestCommand): Promise<number> {
  const taking = command.subjects?.map(subjectNamed) ?? subjects;
  const rounds = command.runs ?? 5;
  const say = (line: string): void => console.error(line);
  say("getting ready: a build of Rondo, the peers' packages");
  await readyRondo();
  if (taking.some(({ kind }) => kind === "peer")) await readyPeers();
  const server = await startContestServer();
  let outcome: { figures: Figure[]; failures: Failure[] };
  try {
    outcome = await contest({
      server,
      scenarios: command.scenarios,
      subjects: taking,
      rounds,
      peerRounds: command.peerRuns ?? Math.min(3, rounds),
      nodeFlags:
        command.cpuProf === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${resolve(command.cpuProf)}`],
      say,
    });
  } finally {
    await server.close();
  }
  if (command.json) {
    for (const figure of outcome.figures) console.log(JSON.stringify(figure));
    for (const failure of outcome.failures) console.log(JSON.stringify(failure));
  } else {
    for (const scenario of command.scenarios) {
      console.log(`\n${scenario}\n`);
      printTable(columns, rowsOf(scenario, outcome.figures));
      for (const one of outcome.failures.filter((failure) => failure.scenario === scenario))
        console.log(`${subjectNamed(one.subject).title}: ${one.kind}: ${one.why}`);
    }
    const growths = taking.flatMap(({ name, title }) => {
      const growth = growthOf(outcome.figures, name);
      return growth === undefined ? [] : [[title, "", growth.toFixed(2)]];
    });
    if (growths.length > 0) {
      console.log("\ngrowth of CPU from 50 to 1,000 steps, as an exponent\n");
      printTable(["", "", "exponent"], growths);
    }
  }
  return outcome.failures.some(({ kind }) => kind === "failed") ? 1 : 0;
}
