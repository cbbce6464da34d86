// The room of the scenario: what a file in `scenarios/` provides: a time measurement, or another kind of table.

import type { Figure } from "./measure.ts";

export interface Scenario {
  /** One line: what is measured, and what the floor is. */
  about: string;
  /** What the figures count, e.g. `step`: printed with the unit. */
  unit: string;
  /** Default number of rounds. */
  rounds: number;
  /** Yields figures as they are measured, and finally stops everything it started. */
  run(rounds: number): AsyncIterable<Figure[]>;
}

export interface Tabled {
  /** One line: what is shown. */
  about: string;
  /** The table, or why there is none. */
  table(): Promise<{ head: string[]; rows: string[][] } | string>;
}
