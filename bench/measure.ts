// The room of measuring: processor time of several subjects that do the same work, side by side.
//
// The machine is shared, so a figure alone says little. Subjects alternate, round by round, and each is compared with the
// floor of the same round: a slow minute slows both. Their results are compared too, so nobody wins by
// leaving work out.

/** Does the work once and returns its result, which must be the same for every subject of a cell. */
export type Subject = () => Promise<number | string>;

export interface Cell {
  /** What is done, e.g. `openai-chat, 50 deltas a write`. */
  title: string;
  /** The subject that the others are compared with. */
  floor: string;
  subjects: Readonly<Record<string, Subject>>;
  /** Number of items per run: figures are per item. Default: 1. */
  per?: number;
}

export interface Figure {
  title: string;
  subject: string;
  /** Microseconds per item: processor time (user and system, of this process), and wall. Medians over the rounds. */
  cpu: number;
  wall: number;
  /** Processor time relative to the floor of the same round. The median over the rounds. */
  ratio: number;
}

/** Measures every subject of a cell once per round, after one uncounted round. */
export async function measure(cell: Cell, rounds: number): Promise<Figure[]> {
  const { title, floor, per = 1 } = cell;
  const subjects = Object.entries(cell.subjects);
  const taken = new Map(subjects.map(([name]) => [name, [] as { cpu: number; wall: number }[]]));
  const outcomes = new Map<number | string, string>();
  for (let round = 0; round <= rounds; round += 1)
    for (const [name, run] of subjects) {
      globalThis.gc?.();
      const cpuFrom = process.cpuUsage();
      const from = performance.now();
      const outcome = await run();
      const wall = (performance.now() - from) * 1000;
      const { user, system } = process.cpuUsage(cpuFrom);
      outcomes.set(outcome, name);
      if (outcomes.size > 1)
        throw new Error(
          `${title}: the subjects did different work: ${[...outcomes].map(([what, who]) => `${who} ${what}`).join(", ")}`,
        );
      if (round > 0) taken.get(name)?.push({ cpu: (user + system) / per, wall: wall / per });
    }
  const floors = taken.get(floor) ?? [];
  return [...taken].map(([subject, runs]) => ({
    title,
    subject,
    cpu: median(runs.map(({ cpu }) => cpu)),
    wall: median(runs.map(({ wall }) => wall)),
    ratio: median(runs.map(({ cpu }, round) => cpu / (floors[round]?.cpu ?? Number.NaN))),
  }));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
}

/** Prints a table: columns as wide as needed, numbers right-aligned. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("  ");
  console.log(line(head));
  console.log(widths.map((width) => "-".repeat(width)).join("  "));
  for (const row of rows) console.log(line(row));
}
