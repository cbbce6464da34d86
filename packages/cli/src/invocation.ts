// The room of the invocation: how a run was started, kept with the run.
//
// Another process that continues a run must use the same folder, model, tools and limits, whatever its working directory.
// So the record that starts a run carries how it was started. Records that start or take over a run also name the
// process, since two processes must not drive one run at once.

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { JsonObject, LogRecord } from "@rondo/core";

/** How a run was started. Plain JSON. */
export interface Invocation {
  /** The folder it works in, absolute. */
  root: string;
  /** The model as for `--model`; a module's path is absolute. */
  model: string;
  /** The system prompt, if one was given. */
  system?: string;
  maxSteps?: number;
  budgetUsd?: number;
  budgetTokens?: number;
  /** The same for all runs of the session together. */
  sessionUsd?: number;
  sessionTokens?: number;
  timeoutMs?: number;
  /** Approve everything that asks. */
  yes: boolean;
  /** Tools that need no approval, and tools that never run. */
  allow: string[];
  deny: string[];
  /** Keep secrets out of the records and of what the model is sent. */
  redact?: true;
}

export interface ProcessMark {
  pid: number;
  host: string;
  /** Start time in the system's own units; absent where the system does not tell. */
  began?: string;
}

/** What the command adds to the records that start or take over a run. */
interface About {
  invocation: Invocation;
  process: ProcessMark;
}

/** How a run is started and by which process, for `about`. */
export function aboutRun(invocation: Invocation): JsonObject {
  const began = beganOf(process.pid);
  const mark = { pid: process.pid, host: hostname(), ...(began === undefined ? {} : { began }) };
  const about: About = { invocation, process: mark };
  return { ...about } as unknown as JsonObject;
}

const aboutOf = (record: LogRecord | undefined): Partial<About> =>
  ((record?.type === "run_started" || record?.type === "opened" ? record.about : undefined) ??
    {}) as Partial<About>;

/** How the last run of a session was started, or forked; undefined when it was not by this command. */
export function invocationOf(records: readonly LogRecord[]): Invocation | undefined {
  const started = (record: LogRecord): boolean =>
    record.type === "run_started" || (record.type === "opened" && record.by === "fork");
  return aboutOf(records.findLast(started)).invocation;
}

/** The process that drives the run now, as far as known; undefined when it is gone, or is this one. */
export function driverOf(records: readonly LogRecord[]): ProcessMark | undefined {
  const mark = aboutOf(records.findLast((record) => aboutOf(record).process !== undefined)).process;
  if (mark === undefined || (mark.pid === process.pid && mark.host === hostname())) return undefined;
  // Processes of other machines cannot be checked, and do not count: a journal is rarely shared, but hosts get renamed.
  return mark.host === hostname() && isAlive(mark) ? mark : undefined;
}

function isAlive({ pid, began }: ProcessMark): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const found = beganOf(pid);
  // A zombie still has its PID; otherwise a different start time means that the PID was reused.
  return found !== dead && (began === undefined || found === undefined || found === began);
}

const dead = "dead";

/** Field 22 (start time) of /proc/PID/stat; undefined if there is none. */
function beganOf(pid: number): string | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Field 2, the name in parentheses, may contain anything.
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? dead : fields[19];
  } catch {
    return undefined;
  }
}
