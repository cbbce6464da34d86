// The room of a command's outcome: how it ended, and how the model is told.

import { counted, shown } from "../reasons.ts";
import { hintsOf, whoseExit } from "./hints.ts";
import type { ProcessEntry } from "./processes.ts";

export interface Outcome {
  /** How it was confined. */
  confined: string;
  stdout: string;
  stderr: string;
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The time limit in milliseconds, if it was reached. */
  timedOutMs: number | undefined;
  durationMs: number;
  /** Processes that the command left running; they were ended. */
  leftovers: ProcessEntry[];
  survivors: ProcessEntry[];
  /** Files it created where git finds programs to run, relative to the root; they were removed. */
  taken: string[];
  /** Those that could not be removed. */
  left: string[];
}

/** The outcome of a command for the model: the output first, then notes in brackets. */
export function told(outcome: Outcome, command: string): string {
  const { stdout, stderr } = outcome;
  const pieces: string[] = [];
  if (stdout.trim() !== "") pieces.push(`[stdout]\n${stdout.replace(/\n$/, "")}`);
  if (stderr.trim() !== "") pieces.push(`[stderr]\n${stderr.replace(/\n$/, "")}`);
  if (pieces.length === 0) pieces.push("[no output]");
  const seconds = `${(outcome.durationMs / 1000).toFixed(outcome.durationMs < 10_000 ? 2 : 0)} s`;
  const how =
    outcome.timedOutMs !== undefined
      ? `timed out after ${outcome.timedOutMs / 1000} s, and everything it started was ended`
      : outcome.signal !== null
        ? `ended by ${outcome.signal} after ${seconds}`
        : `exit code: ${outcome.code}${whoseExit(command)}; ${seconds}`;
  pieces.push(`[${how}; ${outcome.confined}]`, ...hintsOf(command, outcome));
  if (outcome.leftovers.length > 0)
    pieces.push(
      `[it had left ${counted(outcome.leftovers.length, "process", "processes")} running, now ended: ${named(outcome.leftovers)}; a server has to be started and used in one command]`,
    );
  if (outcome.taken.length > 0)
    pieces.push(
      `[removed, because git would act on it outside the sandbox: ${outcome.taken.map(shown).join(", ")}]`,
    );
  if (outcome.left.length > 0)
    pieces.push(
      `[could not be removed, though git would act on it outside the sandbox: ${outcome.left.map(shown).join(", ")}]`,
    );
  if (outcome.survivors.length > 0) pieces.push(`[could not be ended: ${named(outcome.survivors)}]`);
  return pieces.join("\n");
}

function named(processes: readonly ProcessEntry[]): string {
  const first = processes.slice(0, 10).map((one) => `${shown(one.name)} (${one.pid})`);
  const rest = processes.length - first.length;
  return first.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
