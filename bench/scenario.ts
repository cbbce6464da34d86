// The room of the scenario: what a file in `scenarios/` offers the runner: a measurement of time, or a table of another kind.

import type { Figure } from "./measure.ts";

export interface Scenario {
  /** One line: what is measured, and what the floor is. */
  about: string;
  /** What the figures count, e.g. `step`: printed beside the unit. */
  unit: string;
  /** Rounds where the command line says nothing. */
  rounds: number;
  /** Gives figures as they are measured, and lets go of everything it started. */
  run(rounds: number): AsyncIterable<Figure[]>;
}

export interface Tabled {
  /** One line: what is shown. */
  about: string;
  /** The table, or why there is none. */
  table(): Promise<{ head: string[]; rows: string[][] } | string>;
}
