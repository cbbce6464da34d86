// The room of processes: ends a command with everything it started.
//
// A process group is not enough: `setsid` leaves the group, a double fork leaves the parent. So a command's processes are
// found by group, session, ancestry, and a marker in the environment, which children inherit. A process that clears
// its environment and leaves both group and parent escapes this; in the sandbox the kernel ends it. Where the system
// does not list its processes, only the group is known, and is ended.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { codeOf } from "../reasons.ts";

/** The environment variable that marks a command's processes. */
export const markName = "RONDO_COMMAND";

export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  session: number;
  name: string;
  /** Start time in clock ticks since boot; 0 if unknown. */
  started: number;
}

export interface Family {
  /** The process that was started: leader of its group and session. */
  leader: number;
  /** Its value of `RONDO_COMMAND`. */
  mark: string;
  /** Start time in ticks; older processes do not belong to the family. */
  since: number;
}

/** The result of ending a family. */
export interface Ended {
  ended: ProcessEntry[];
  survivors: ProcessEntry[];
}

/** A family of one, just started. */
export function familyOf(leader: number, mark: string): Family {
  return { leader, mark, since: process.platform === "linux" ? startOf(leader) : 0 };
}

function startOf(leader: number): number {
  try {
    return statOf(leader)?.started ?? 0;
  } catch {
    // It cannot be examined now: then every process with the marker counts, however old.
    return 0;
  }
}

/**
 * The living processes of a family. `known`: members found earlier, whose children count too.
 */
async function membersOf(family: Family, known: ReadonlySet<number>): Promise<ProcessEntry[]> {
  return membersIn(await allProcesses(), family, known);
}

function membersIn(
  all: readonly ProcessEntry[],
  family: Family,
  known: ReadonlySet<number> = new Set(),
): ProcessEntry[] {
  const members = new Set<number>([family.leader, ...known]);
  const found: ProcessEntry[] = [];
  const marked =
    process.platform === "linux" ? markedProcesses(all, family) : (new Set() as ReadonlySet<number>);
  // Children may come before their parents in the list: repeat until nothing is added.
  for (let joined = true, rest: readonly ProcessEntry[] = all; joined; ) {
    joined = false;
    const others: ProcessEntry[] = [];
    for (const one of rest) {
      const belongs =
        one.pid === family.leader ||
        one.group === family.leader ||
        one.session === family.leader ||
        members.has(one.parent) ||
        marked.has(one.pid);
      if (belongs && one.pid !== process.pid) {
        members.add(one.pid);
        found.push(one);
        joined = true;
      } else others.push(one);
    }
    rest = others;
  }
  return found;
}

/**
 * Ends a family: SIGTERM, the grace period, then SIGKILL until none is left.
 * @param graceMs between SIGTERM and SIGKILL; 0: SIGKILL at once
 * @returns the processes found, and those that survived
 * @throws the system's error when processes cannot be listed; the group was killed then
 */
export async function endFamily(family: Family, graceMs: number): Promise<Ended> {
  try {
    return await (seesProcesses() ? endedOf(family, graceMs) : groupEnded(family, graceMs));
  } catch (thrown) {
    send(-family.leader, "SIGKILL");
    throw thrown;
  }
}

/** Ends a family at once, without waiting: this process is ending itself. */
export function killFamily(family: Family): void {
  send(-family.leader, "SIGKILL");
  if (process.platform !== "linux" || !seesProcesses()) return;
  try {
    for (const { pid } of membersIn(listedInProc(), family)) send(pid, "SIGKILL");
  } catch {
    // They cannot be listed: the group is all that can be ended.
  }
}

/** Whether /proc shows the processes that we can signal: there may be none, or another namespace's. */
function seesProcesses(): boolean {
  if (process.platform !== "linux") return true;
  try {
    return readlinkSync("/proc/self") === String(process.pid);
  } catch {
    return false;
  }
}

async function groupEnded({ leader }: Family, graceMs: number): Promise<Ended> {
  const until = Date.now() + graceMs;
  let isThere = send(-leader, graceMs > 0 ? "SIGTERM" : "SIGKILL");
  while (isThere && Date.now() < until) {
    await pause(25);
    isThere = send(-leader, 0);
  }
  if (isThere) send(-leader, "SIGKILL");
  return { ended: [], survivors: [] };
}

async function endedOf(family: Family, graceMs: number): Promise<Ended> {
  const seen = new Map<number, ProcessEntry>();
  const look = async (): Promise<ProcessEntry[]> => {
    const found = await membersOf(family, new Set(seen.keys()));
    for (const one of found) seen.set(one.pid, one);
    return found;
  };
  let living = await look();
  if (graceMs > 0 && living.length > 0) {
    // bwrap does not pass SIGTERM on, and would take its children down at once: signal them first, without it.
    const polite = living.filter((one) => one.name !== "bwrap");
    for (const one of polite) send(one.pid, "SIGTERM");
    const until = Date.now() + graceMs;
    while (polite.length > 0 && living.length > 0 && Date.now() < until) {
      await pause(25);
      living = await look();
    }
  }
  for (let round = 0; living.length > 0 && round < 20; round++) {
    // Stop all of them first, so that none can fork while the others are killed.
    for (const one of living) send(one.pid, "SIGSTOP");
    for (const one of living) send(one.pid, "SIGKILL");
    await pause(round < 5 ? 10 : 50);
    living = await look();
  }
  return { ended: [...seen.values()], survivors: living };
}

/** @returns whether the signal reached a process */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // Already gone, or not ours to signal: the next scan shows.
    return false;
  }
}

async function allProcesses(): Promise<ProcessEntry[]> {
  return process.platform === "linux" ? listedInProc() : listedByPs();
}

function listedInProc(): ProcessEntry[] {
  const found: ProcessEntry[] = [];
  // Read synchronously: /proc is memory, and the thread pool would cost ten times the read itself.
  for (const name of readdirSync("/proc")) {
    const entry = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    if (entry !== undefined) found.push(entry);
  }
  return found;
}

/** No more files can be opened: a process that cannot be examined for this reason is not gone. */
const noFiles: ReadonlySet<string | undefined> = new Set(["EMFILE", "ENFILE"]);

/** From /proc/PID/stat; undefined for a process that is gone and for a zombie. The name may contain spaces and parentheses. */
function statOf(pid: number): ProcessEntry | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (thrown) {
    if (noFiles.has(codeOf(thrown))) throw thrown;
    return undefined;
  }
  const close = stat.lastIndexOf(")");
  const fields = stat.slice(close + 2).split(" ");
  const [state, parent, group, session] = fields;
  if (state === "Z" || state === "X") return undefined;
  return {
    pid,
    name: stat.slice(stat.indexOf("(") + 1, close),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started: Number(fields[19]),
  };
}

function markedProcesses(all: readonly ProcessEntry[], family: Family): ReadonlySet<number> {
  const marked = new Set<number>();
  const wanted = Buffer.from(`${markName}=${family.mark}\0`);
  for (const { pid, started } of all) {
    if (started < family.since) continue;
    try {
      if (readFileSync(`/proc/${pid}/environ`).includes(wanted)) marked.add(pid);
    } catch {
      // Gone, or another user's: not one of ours.
    }
  }
  return marked;
}

/** @throws the system's error, or that nothing was listed: at least `ps` itself runs */
export function listedByPs(): Promise<ProcessEntry[]> {
  const { promise, resolve, reject } = Promise.withResolvers<ProcessEntry[]>();
  execFile(
    "ps",
    // An option each: for POSIX all that follows a `=` is a header, commas and names included.
    ["-A", ...["pid=", "ppid=", "pgid=", "stat=", "comm="].flatMap((column) => ["-o", column])],
    { maxBuffer: 16 * 1024 * 1024 },
    (error, stdout) => {
      if (error !== null && stdout === "") {
        reject(error);
        return;
      }
      const found: ProcessEntry[] = [];
      for (const line of stdout.split("\n")) {
        const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
        if (match === null || match[4]!.startsWith("Z")) continue;
        found.push({
          pid: Number(match[1]),
          parent: Number(match[2]),
          group: Number(match[3]),
          session: -1,
          name: match[5]!,
          started: 0,
        });
      }
      if (found.length === 0) reject(new Error("ps listed no process"));
      else resolve(found);
    },
  );
  return promise;
}
