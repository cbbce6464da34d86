// The room of the holder: which process has a lease or writes a file, and whether it is gone for good.
//
// A process that was killed can neither let its lease go nor take away what it had begun to write, and whoever goes on with
// its work must not wait for the lease to run out. But only that process counts as gone of which it is known: the same machine
// since the same start, the same process namespace, and no process with that number that began at that time. Of any other
// nothing is known, and its lease counts.

import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

interface Mark {
  pid: number;
  host: string;
  /** The machine's start and the process namespace, where the system tells them. */
  boot: string;
  /** When the process began, in the system's own count; empty where it does not tell. */
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

/** This process, as it is stored with a lease. */
export function ownMark(): string {
  own ??= JSON.stringify(markOfThis());
  return own;
}

/** This process in the name of a file that it writes: letters, digits and `-`, and short on any machine. */
export function ownMarkInName(): string {
  if (ownInName === undefined) {
    const { pid, began, host, boot } = shortened(markOfThis());
    ownInName = [pid, began, host, ...boot.split(" ")].join("-");
  }
  return ownInName;
}

/** A holder in words: its name, and its process. */
export function holderName(owner: string, mark: string | null): string {
  const known = readMark(mark);
  return known === undefined ? owner : `${owner} (process ${known.pid} on ${known.host})`;
}

/** True only when the process is known to have ended. */
export function isGone(mark: string | null): boolean {
  const known = readMark(mark);
  return known !== undefined && mark !== ownMark() && hasEnded(known, markOfThis());
}

/** True only when the process that a file's name tells of is known to have ended. */
export function isGoneByName(mark: string): boolean {
  const [, pid = "", began = "", host = "", start = "", space = ""] =
    /^(\d+)-(\w*)-(\w+)-(\w*)-(\w*)$/.exec(mark) ?? [];
  if (pid === "" || mark === ownMarkInName()) return false;
  return hasEnded({ pid: Number(pid), began, host, boot: `${start} ${space}` }, shortened(markOfThis()));
}

function hasEnded(known: Mark, here: Mark): boolean {
  // Another namespace cannot be looked into, and another start may be that of another machine of the same name.
  if (known.host !== here.host || known.boot !== here.boot) return false;
  // Where namespaces are and this one is not told, the number may be another's.
  if (process.platform === "linux" && here.boot.split(" ").includes("")) return false;
  try {
    process.kill(known.pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ESRCH";
  }
  const began = beganOf(known.pid);
  // A dead process that nobody has waited for yet still has its number.
  if (began === "dead") return true;
  // Its number may be another's by now.
  return known.began !== "" && began !== undefined && began !== known.began;
}

/** What may be long in a mark by its digest; what is not known stays so. */
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
 * Whether what the system tells of processes goes by the numbers they have here. In a namespace that was given the files of another
 * one, theirs name other processes, and this process has a number there and one here.
 */
function tellsByOurNumbers(): boolean {
  isOurs ??= numberThere() === String(process.pid);
  return isOurs;
}

/** This process by the numbers of whose files these are; of older systems, which do not tell all of them, the first. */
function numberThere(): string {
  const status = attempt(() => readFileSync("/proc/self/status", "utf8"));
  return /^NSpid:\s*(.*)$/m.exec(status)?.[1] ?? attempt(() => readlinkSync("/proc/self"));
}

/** Field 22 of the system's line on the process; `dead` for one that has ended and was not waited for. */
function beganOf(pid: number): string | undefined {
  if (!tellsByOurNumbers()) return undefined;
  const line = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The name, in parentheses, may hold anything.
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
