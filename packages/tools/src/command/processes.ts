// The room of processes: a command ends with everything it started.
//
// A process group is not enough: `setsid` leaves the group, a double fork leaves the parent. So what belongs to a
// command is found by its group, its session, its ancestry, and by a mark in its environment, which children inherit.
// What clears its environment and leaves both group and parent is beyond this; in the sandbox the kernel ends it. Where
// the system does not tell of its processes, the group is what is known, and is ended.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { codeOf } from "../reasons.ts";

/** The environment variable that marks what a command started. */
export const markName = "RONDO_COMMAND";

export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  session: number;
  name: string;
  /** When it started, in ticks since the system did; 0 where it is not known. */
  started: number;
}

export interface Family {
  /** The process that was started, leader of its group and session. */
  leader: number;
  /** Its value of `RONDO_COMMAND`. */
  mark: string;
  /** When it started, in ticks: who is older is none of it. */
  since: number;
}

/** What came of ending a family. */
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
    // It cannot be looked at now: then whoever bears its mark is one of it, however old.
    return 0;
  }
}

/**
 * The living processes of a family. `known`: members of an earlier look, whose children count too.
 */
async function membersOf(family: Family, known: ReadonlySet<number> = new Set()): Promise<ProcessEntry[]> {
  const all = await allProcesses();
  const members = new Set<number>([family.leader, ...known]);
  const found: ProcessEntry[] = [];
  const marked =
    process.platform === "linux" ? await markedProcesses(all, family) : (new Set() as ReadonlySet<number>);
  // Children may stand before their parents in the list: go round until nobody joins.
  for (let joined = true, rest = all; joined; ) {
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
 * Ends a family: TERM, a while of grace, then KILL until nobody is left.
 * @param graceMs between TERM and KILL; 0: KILL at once
 * @returns who was there, and who would not die
 * @throws what the system says where nobody can be looked for; the group, which is known without looking, is ended
 */
export async function endFamily(family: Family, graceMs: number): Promise<Ended> {
  try {
    return await (isTold() ? endedOf(family, graceMs) : groupEnded(family, graceMs));
  } catch (thrown) {
    send(-family.leader, "SIGKILL");
    throw thrown;
  }
}

/** Whether /proc tells of the processes that can be signalled here: a host may have none, or that of another name space. */
function isTold(): boolean {
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
    // bwrap passes no TERM on and would take its children with it at once: let them hear it first.
    const polite = living.filter((one) => one.name !== "bwrap");
    for (const one of polite) send(one.pid, "SIGTERM");
    const until = Date.now() + graceMs;
    while (polite.length > 0 && living.length > 0 && Date.now() < until) {
      await pause(25);
      living = await look();
    }
  }
  for (let round = 0; living.length > 0 && round < 20; round++) {
    // Stopped first, all of them, so that none can fork while the others are killed.
    for (const one of living) send(one.pid, "SIGSTOP");
    for (const one of living) send(one.pid, "SIGKILL");
    await pause(round < 5 ? 10 : 50);
    living = await look();
  }
  return { ended: [...seen.values()], survivors: living };
}

/** @returns whether anybody was there to hear it */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // Gone already, or not ours to signal: the next look tells.
    return false;
  }
}

async function allProcesses(): Promise<ProcessEntry[]> {
  if (process.platform !== "linux") return listedByPs();
  const found: ProcessEntry[] = [];
  // Read without waiting: /proc is memory, and a thread pool costs ten times as much as the reading.
  for (const name of readdirSync("/proc")) {
    const entry = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    if (entry !== undefined) found.push(entry);
  }
  return found;
}

/** No file can be opened now, of whomever: who cannot be looked at for that reason is not gone. */
const noFiles: ReadonlySet<string | undefined> = new Set(["EMFILE", "ENFILE"]);

/** What /proc/PID/stat says; nothing of who is gone, and nothing of a zombie, who is dead. The name may hold spaces and parentheses. */
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

function listedByPs(): Promise<ProcessEntry[]> {
  const { promise, resolve, reject } = Promise.withResolvers<ProcessEntry[]>();
  execFile(
    "ps",
    ["-A", "-o", "pid=,ppid=,pgid=,stat=,comm="],
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
      resolve(found);
    },
  );
  return promise;
}
