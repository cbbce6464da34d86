// The room of the holder: which process has a lease or writes a file, and whether it is gone for good.
//
// A killed process can neither release its lease nor remove its temporary files, and whoever continues its work must not
// wait for the lease to expire. But a process counts as gone only when that is certain: same machine, same boot, same PID
// namespace, and no process with that PID and start time. About any other process nothing is known, so its
// lease counts.

import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

interface Mark {
  pid: number;
  host: string;
  /** The boot id and the PID namespace, where the system tells them. */
  boot: string;
  /** When the process started, in clock ticks since boot; empty where the system does not tell. */
  began: string;
}

let own: string | undefined;
let ownInName: string | undefined;

const markOfThis = (): Mark => ({
  pid: process.pid,
  host: hostname(),
  boot: bootOf(),
  began: beganOf(process.pid) ?? "",
});

/** The mark of this process, as it is stored with a lease. */
export function ownMark(): string {
  own ??= JSON.stringify(markOfThis());
  return own;
}

/** The same for use in file names: letters, digits and `-`, short on any machine. */
export function ownMarkInName(): string {
  if (ownInName === undefined) {
    const { pid, began, host, boot } = shortened(markOfThis());
    ownInName = [pid, began, host, ...boot.split(" ")].join("-");
  }
  return ownInName;
}

/** A lease holder for messages: its name and its process. */
export function holderName(owner: string, mark: string | null): string {
  const known = readMark(mark);
  return known === undefined ? owner : `${owner} (process ${known.pid} on ${known.host})`;
}

/** True only when the process is known to have ended. */
export function isGone(mark: string | null): boolean {
  const known = readMark(mark);
  return known !== undefined && mark !== ownMark() && hasEnded(known, markOfThis());
}

/** The same for the mark in a file's name. */
export function isGoneByName(mark: string): boolean {
  const [, pid = "", began = "", host = "", start = "", space = ""] =
    /^(\d+)-(\w*)-(\w+)-(\w*)-(\w*)$/.exec(mark) ?? [];
  if (pid === "" || mark === ownMarkInName()) return false;
  return hasEnded({ pid: Number(pid), began, host, boot: `${start} ${space}` }, shortened(markOfThis()));
}

function hasEnded(known: Mark, here: Mark): boolean {
  // Another PID namespace cannot be looked into, and another boot id may mean another machine of the same name.
  if (known.host !== here.host || known.boot !== here.boot) return false;
  // On Linux with the boot id or the namespace unknown, the PID may be of another namespace.
  if (process.platform === "linux" && here.boot.split(" ").includes("")) return false;
  try {
    process.kill(known.pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ESRCH";
  }
  const began = beganOf(known.pid);
  // A zombie still has its PID.
  if (began === "dead") return true;
  // The PID may have been reused.
  return known.began !== "" && began !== undefined && began !== known.began;
}

/** Replaces the long parts of a mark by digests; unknown parts stay unknown. */
function shortened({ host, boot, ...mark }: Mark): Mark {
  const short = (text: string): string =>
    text === "" ? "" : createHash("sha256").update(text).digest("hex").slice(0, 12);
  return { ...mark, host: short(host), boot: boot.split(" ").map(short).join(" ") };
}

function readMark(text: string | null): Mark | undefined {
  if (text === null) return undefined;
  try {
    const mark = JSON.parse(text) as Partial<Mark> | null;
    if (typeof mark?.pid !== "number" || typeof mark.host !== "string") return undefined;
    return { pid: mark.pid, host: mark.host, boot: mark.boot ?? "", began: mark.began ?? "" };
  } catch {
    return undefined;
  }
}

function bootOf(): string {
  return `${attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim())} ${attempt(() => readlinkSync("/proc/self/ns/pid"))}`;
}

let isOurs: boolean | undefined;

/**
 * Whether `/proc` uses the PIDs of this namespace. When another namespace's `/proc` is mounted here, its PIDs mean
 * other processes, and this process has different PIDs there and here.
 */
function tellsByOurNumbers(): boolean {
  isOurs ??= numberThere() === String(process.pid);
  return isOurs;
}

/** This process's PID in the namespace of `/proc` (with all its PIDs, where the kernel lists them). */
function numberThere(): string {
  const status = attempt(() => readFileSync("/proc/self/status", "utf8"));
  return /^NSpid:\s*(.*)$/m.exec(status)?.[1] ?? attempt(() => readlinkSync("/proc/self"));
}

/** Field 22 (start time) of `/proc/PID/stat`; `dead` for a zombie. */
function beganOf(pid: number): string | undefined {
  if (!tellsByOurNumbers()) return undefined;
  const line = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // Field 2, the name in parentheses, may contain anything.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return "dead";
  return fields[19];
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
