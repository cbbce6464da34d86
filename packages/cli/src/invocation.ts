// The room of the invocation: how a run was started, kept with the run.
//
// Whoever goes on with a run in another process must do so in the same folder, with the same model, tools and limits,
// whatever folder they stand in themselves. So the record that starts a run carries how it was started, and the
// records that take a run over carry which process did: two at once must not drive one run.

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { JsonObject, LogRecord } from "@rondo/core";

/** How a run was started. Plain JSON. */
export interface Invocation {
  /** The folder it works in, absolute. */
  root: string;
  /** The model as `--model` would name it; a module's path is absolute. */
  model: string;
  /** The system prompt, where one was given. */
  system?: string;
  maxSteps?: number;
  budgetUsd?: number;
  budgetTokens?: number;
  timeoutMs?: number;
  /** Approve every ask. */
  yes: boolean;
  /** Tools that need no approval, and tools that never run. */
  allow: string[];
  deny: string[];
  /** Secrets are kept out of what is written down, and of what the model is sent. */
  redact?: true;
}

export interface ProcessMark {
  pid: number;
  host: string;
  /** When it began, as the system counts; absent where it does not tell. */
  began?: string;
}

/** What the command says about a run in the records that start it, or take it over. */
interface About {
  invocation: Invocation;
  process: ProcessMark;
}

/** How a run is started, and by which process, for `about`. */
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

/** The process that drives the run now, as far as can be known; undefined when it is gone, or is this one. */
export function driverOf(records: readonly LogRecord[]): ProcessMark | undefined {
  const mark = aboutOf(records.findLast((record) => aboutOf(record).process !== undefined)).process;
  if (mark === undefined || (mark.pid === process.pid && mark.host === hostname())) return undefined;
  // Of another machine nothing can be known; a journal is rarely shared, a host is often renamed.
  return mark.host === hostname() && isAlive(mark) ? mark : undefined;
}

function isAlive({ pid, began }: ProcessMark): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const found = beganOf(pid);
  // Dead, and still has its number: nobody has waited for it yet. Or the number is another's by now.
  return found !== dead && (began === undefined || found === undefined || found === began);
}

const dead = "dead";

/** Field 22 of the system's line on a process; undefined where there is no such line. */
function beganOf(pid: number): string | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name, in parentheses, may hold anything.
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? dead : fields[19];
  } catch {
    return undefined;
  }
}
