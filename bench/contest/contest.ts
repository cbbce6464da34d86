// The room of the contest: runs the cells round by round, and summarizes them.
//
// The machine is shared, so a figure alone says little. In each round every subject of a scenario runs once, with another
// one first each time, and is compared with the floor of the same round. A scenario of short cells has more rounds, because
// a few milliseconds of noise are a tenth of such a cell.

import { median } from "../measure.ts";
import { type Measured, OtherWork, runCell } from "./run-cell.ts";
import type { ContestServer } from "./server.ts";
import { type Subject, subjectNamed } from "./subjects.ts";

export interface Figure {
  scenario: string;
  subject: string;
  protocol: Subject["protocol"];
  runs: number;
  /** Milliseconds; peak memory in kilobytes. Medians over the rounds. */
  cpu: number;
  /** The main thread's share of the CPU; other threads compile and collect garbage. */
  main: number;
  wall: number;
  rss: number;
  /** CPU and wall relative to the floor of the same round: the median over the rounds. Absent if the floor did not run. */
  cpuRatio?: number;
  wallRatio?: number;
  /** CPU of each round, in milliseconds. */
  rounds: number[];
}

/** A subject that cannot run a scenario, or did other work. */
export interface Failure {
  scenario: string;
  subject: string;
  /** `cannot` is known in advance. */
  kind: "cannot" | "failed";
  why: string;
}

export interface ContestOptions {
  server: ContestServer;
  scenarios: readonly string[];
  subjects: readonly Subject[];
  rounds: number;
  /** Rounds where the fastest floor over a wire takes less than 100 ms. Default: as many. */
  shortRounds?: number;
  /** Rounds in which peers take part: their cells take longest. Default: all. */
  peerRounds?: number;
  /** For the cells' processes. */
  nodeFlags?: readonly string[];
  /** Called when a cell has ended. */
  say?: (line: string) => void;
}

/** What a cell measured in each round it took part in. */
type Rounds = ReadonlyMap<number, Measured>;

export async function contest(options: ContestOptions): Promise<{ figures: Figure[]; failures: Failure[] }> {
  const { server, scenarios, subjects, rounds, nodeFlags = [], say } = options;
  const { shortRounds = rounds, peerRounds = rounds } = options;
  const taken = new Map<string, Map<number, Measured>>();
  const failures = new Map<string, Failure>();
  for (let round = 0; round < Math.max(rounds, shortRounds); round += 1)
    for (const scenario of scenarios) {
      if (round >= rounds && !isShort(scenario, subjects, taken)) continue;
      const from = round % subjects.length;
      for (const subject of [...subjects.slice(from), ...subjects.slice(0, from)]) {
        const key = keyOf(scenario, subject.name);
        if (failures.has(key) || (subject.kind === "peer" && isEnough(taken.get(key), peerRounds))) continue;
        const cannot = subject.cannot?.[scenario];
        if (cannot !== undefined) {
          failures.set(key, { scenario, subject: subject.name, kind: "cannot", why: cannot });
          continue;
        }
        try {
          const one = await runCell(server, scenario, subject, { nodeFlags });
          const cell = taken.get(key) ?? new Map<number, Measured>();
          cell.set(round, one);
          taken.set(key, cell);
          say?.(
            `${round + 1} ${scenario} ${subject.name}: ${one.cpu.toFixed(0)} ms CPU, ${one.wall.toFixed(0)} ms`,
          );
        } catch (thrown) {
          if (!(thrown instanceof OtherWork)) throw thrown;
          failures.set(key, { scenario, subject: subject.name, kind: "failed", why: thrown.message });
          say?.(`${round + 1} ${scenario} ${subject.name}: ${thrown.message}`);
        }
      }
    }
  const figures = scenarios.flatMap((scenario) =>
    subjects.flatMap((subject) => {
      const key = keyOf(scenario, subject.name);
      const cell = taken.get(key);
      if (cell === undefined || failures.has(key)) return [];
      return [figureOf(scenario, subject, cell, taken.get(keyOf(scenario, subject.floor)))];
    }),
  );
  return { figures, failures: [...failures.values()] };
}

/** A cell that takes less CPU than this is short. Milliseconds. */
const shortMs = 100;

/** Whether the fastest floor over a wire that ran a scenario is short in it. */
function isShort(
  scenario: string,
  subjects: readonly Subject[],
  taken: ReadonlyMap<string, Rounds>,
): boolean {
  return subjects.some(({ kind, name, protocol }) => {
    const isFloor = kind === "floor" && protocol !== "none";
    const cell = isFloor ? taken.get(keyOf(scenario, name)) : undefined;
    return cell !== undefined && median([...cell.values()].map(({ cpu }) => cpu)) < shortMs;
  });
}

const keyOf = (scenario: string, subject: string): string => `${scenario} ${subject}`;

/** What a subject took, by median. @param floor what its floor took in the same rounds */
function figureOf(scenario: string, subject: Subject, cell: Rounds, floor: Rounds | undefined): Figure {
  const all = [...cell.values()];
  const middle = (of: keyof Measured): number => median(all.map((one) => one[of]));
  const ratios = (of: "cpu" | "wall"): number[] =>
    [...cell].flatMap(([round, one]) => {
      const unit = floor?.get(round)?.[of];
      return unit === undefined ? [] : [one[of] / unit];
    });
  const [cpuRatios, wallRatios] = [ratios("cpu"), ratios("wall")];
  return {
    scenario,
    subject: subject.name,
    protocol: subject.protocol,
    runs: cell.size,
    cpu: middle("cpu"),
    main: middle("main"),
    wall: middle("wall"),
    rss: middle("rss"),
    ...(cpuRatios.length === 0 ? {} : { cpuRatio: median(cpuRatios), wallRatio: median(wallRatios) }),
    rounds: all.map(({ cpu }) => cpu),
  };
}

/** Peers take part in fewer rounds, and in only one if a run takes this long: noise is never of that size. */
const onceMs = 8_000;

function isEnough(cell: Rounds | undefined, rounds: number): boolean {
  if (cell === undefined) return false;
  return cell.size >= rounds || [...cell.values()].some(({ cpu }) => cpu > onceMs);
}

/** How CPU grows from 50 to 1,000 steps: the exponent of the number of steps. 1 is linear. Undefined when a figure is missing. */
export function growthOf(figures: readonly Figure[], subject: string): number | undefined {
  const cpuAt = (scenario: string): number | undefined =>
    figures.find((one) => one.scenario === scenario && one.subject === subject)?.cpu;
  const [few, many] = [cpuAt("50-steps"), cpuAt("1000-steps")];
  return few === undefined || many === undefined ? undefined : Math.log(many / few) / Math.log(1000 / 50);
}

/** The rows of a scenario for a terminal. */
export function rowsOf(scenario: string, figures: readonly Figure[]): string[][] {
  const times = (value: number | undefined): string => (value === undefined ? "" : value.toFixed(2));
  return figures
    .filter((one) => one.scenario === scenario)
    .map((one) => [
      subjectNamed(one.subject).title,
      one.protocol,
      one.cpu.toFixed(0),
      one.main.toFixed(0),
      one.wall.toFixed(0),
      (one.rss / 1024).toFixed(0),
      times(one.cpuRatio),
      times(one.wallRatio),
      String(one.runs),
    ]);
}

export const columns = [
  "",
  "",
  "ms CPU",
  "main thread",
  "ms wall",
  "MB peak",
  "CPU ratio",
  "wall ratio",
  "runs",
];
