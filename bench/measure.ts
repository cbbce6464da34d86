// The room of measuring: CPU and wall time of something, over several runs, as a median.

export interface Measured {
  /** Microseconds of CPU (user and system) of this process. */
  cpu: number;
  wall: number;
}

/** The median of `runs` runs, after one that is not counted. */
export async function measure(body: () => Promise<void>, runs: number): Promise<Measured> {
  await body();
  const cpus: number[] = [];
  const walls: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const cpuFrom = process.cpuUsage();
    const from = performance.now();
    await body();
    const { user, system } = process.cpuUsage(cpuFrom);
    cpus.push(user + system);
    walls.push((performance.now() - from) * 1000);
  }
  return { cpu: median(cpus), wall: median(walls) };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** A table for a terminal: columns as wide as they must be, numbers to the right. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("  ");
  console.log(line(head));
  console.log(widths.map((width) => "-".repeat(width)).join("  "));
  for (const row of rows) console.log(line(row));
}
