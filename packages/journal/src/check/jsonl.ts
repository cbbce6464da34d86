// The room of checking a JSONL journal: every line of every file, missing files, and the only repair (torn tails);
// then the whole texts of cut results next to them.

import { existsSync, fstatSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { formatVersion, RondoError } from "@rondo/core";
import { FolderLock } from "../folder-lock.ts";
import { fileError } from "../jsonl/errors.ts";
import { cutDurably, withKnownFile } from "../jsonl/files.ts";
import { linesVersion, noHead, scan, wholeBefore } from "../jsonl/lines.ts";
import { nameOf, newestSegments, pendingSuffix, segmentName, segmentOf, suffix } from "../jsonl/names.ts";
import { formatOf } from "../record-format.ts";
import { FoldCheck } from "./fold.ts";
import type { CheckOptions, CheckReport, Finding } from "./report.ts";
import { checkTextFiles } from "./texts.ts";

type Report = Omit<CheckReport, "path">;

/** @param path a folder, or one file of a session, which is checked together with the session's other files */
export function checkJsonl(path: string, { repair = false, busyTimeoutMs = 5_000 }: CheckOptions): Report {
  const isFolder = statSync(path).isDirectory();
  const folder = isFolder ? path : dirname(path);
  const asked = isFolder ? undefined : segmentOf(basename(path)).name;
  const report: Report = { kind: "jsonl", sessions: 0, records: 0, bytes: 0, findings: [] };
  const ids: string[] = [];
  const lock = repair ? new FolderLock(join(folder, "lock"), busyTimeoutMs) : undefined;
  try {
    if (isFolder && !mayBeJournal(folder))
      throw new RondoError(
        "invalid_request",
        `${folder} holds no journal: there is no file of a session in it (*.jsonl), nor the lock of one`,
      );
    const sessions = [...newestSegments(folder)].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [name, newest] of sessions) {
      if (asked !== undefined && name !== asked) continue;
      const session = new SessionCheck(folder, name, newest, repair, report);
      try {
        // A live writer may be in the middle of a line: only under the lock is an unfinished line known to be a torn tail.
        if (lock === undefined) session.check();
        else lock.hold(() => session.check());
      } catch (thrown) {
        const { message } = fileError(session.path, "check", thrown);
        report.findings.push({ what: "damage", message, repaired: false });
      }
      if (session.id !== undefined) ids.push(session.id);
    }
    const texts = checkTextFiles(folder, ids, isFolder);
    report.findings.push(...texts.findings);
    report.bytes += texts.bytes;
  } finally {
    lock?.close();
  }
  return report;
}

/** An empty folder may be a journal that nobody has written to yet. */
function mayBeJournal(folder: string): boolean {
  const names = readdirSync(folder);
  return names.length === 0 || names.some((name) => name === "lock" || name.endsWith(suffix));
}

/** What a file was found to be. Files after a `broken` one cannot be judged. */
type Came = "sealed" | "open" | "broken";

/** The check of one session: all its files, in order. */
class SessionCheck {
  path: string;
  readonly #folder: string;
  readonly #name: string;
  readonly #newest: number;
  readonly #repair: boolean;
  readonly #report: Report;
  readonly #fold = new FoldCheck();
  /** The session's id, once one of its files has told it. */
  id: string | undefined;
  #length = 0;

  /** @param newest the highest segment number that was seen */
  constructor(folder: string, name: string, newest: number, repair: boolean, report: Report) {
    this.#folder = folder;
    this.#name = name;
    this.#newest = newest;
    this.#repair = repair;
    this.#report = report;
    this.path = this.#pathOf(1);
  }

  check(): void {
    const newest = this.#newest;
    for (let segment = 1; ; segment += 1) {
      this.path = this.#pathOf(segment);
      // Before opening the file: a live writer may rotate in between.
      const followed = newest > segment || existsSync(this.#pathOf(segment + 1));
      const came = withKnownFile(this.path, this.#repair && !followed ? "r+" : "r", (file) =>
        this.#checkFile(file, segment, followed),
      );
      if (came === undefined) {
        const next = newest > segment ? `, and ${segmentName(this.#name, newest)} is there` : "";
        this.#found(`it is missing: file ${segment} of its session${next}; ${wholeBefore(this.#length)}`);
      }
      if (came === undefined || came === "broken") break;
      if (came === "open") {
        this.#end();
        break;
      }
      const next = this.#pathOf(segment + 1);
      // A rotation that a crash cut off, or that is still going on: the next writer completes it.
      if (!existsSync(next) && existsSync(next + pendingSuffix)) {
        this.#end();
        break;
      }
    }
    this.#report.records += this.#length;
  }

  #end(): void {
    const unpaired = this.#fold.end();
    if (unpaired !== undefined) this.#found(unpaired);
    else if (this.id !== undefined && this.#length > 0) this.#report.sessions += 1;
  }

  #checkFile(file: number, segment: number, followed: boolean): Came {
    const { size } = fstatSync(file);
    this.#report.bytes += size;
    const { end, torn, damage, sealed, newer, wrong } = this.#readLines(file, size);
    if (newer !== undefined) {
      this.#found(`it is of format ${newer}, written by a newer Rondo; update this one`, "newer");
      return "broken";
    }
    this.#length = end.seq;
    if (damage !== undefined)
      wrong.unshift(
        `line ${damage.line} (record ${damage.seq}) is damaged: ${damage.why}; ${wholeBefore(end.seq)}, ` +
          `${size - end.offset} bytes from there on were not read`,
      );
    else if (segment > 1 && end.offset === 0) wrong.unshift(noHead);
    else if (followed && !sealed)
      wrong.push(
        `it ends without its seal at record ${end.seq}, and another file follows it: its end was lost`,
      );
    for (const why of wrong) this.#found(why);
    if (torn > 0 && !followed) {
      if (this.#repair) cutDurably(file, end.offset);
      const tail = `${torn} bytes behind line ${end.line - 1} are what is left of a line that was never acknowledged`;
      this.#found(`${tail}${this.#repair ? "; they were cut off" : ""}`, "torn_tail", this.#repair);
    }
    if (wrong.length > 0) return "broken";
    return sealed ? "sealed" : "open";
  }

  /** Reads and folds the lines of a file. `newer`: the format, if this code cannot read it; `wrong`: what is wrong in whole lines. */
  #readLines(
    file: number,
    size: number,
  ): ReturnType<typeof scan> & { sealed: boolean; newer: number | undefined; wrong: string[] } {
    const wrong: string[] = [];
    let newer: number | undefined;
    let sealed = false;
    const read = scan(file, { line: 1, offset: 0, seq: this.#length }, size, (line) => {
      if (line.what === "seal") sealed = true;
      else if (line.what === "header") {
        const { id, format } = line.header;
        this.id ??= id;
        if (format > linesVersion) newer = format;
        const its = segmentName(nameOf(id), line.header.segment ?? 1);
        if (basename(this.path) !== its)
          wrong.push(`it holds session ${JSON.stringify(id)}, whose file is ${its}`);
      } else {
        for (const record of line.records) {
          if (formatOf(record) > formatVersion) newer = formatOf(record);
          if (newer !== undefined || wrong.length > 0) return;
          const why = this.#fold.add(record);
          if (why !== undefined) wrong.push(`line ${line.line}: ${why}`);
        }
      }
    });
    return { ...read, sealed, newer, wrong };
  }

  #pathOf(segment: number): string {
    return join(this.#folder, segmentName(this.#name, segment));
  }

  #found(message: string, what: Finding["what"] = "damage", repaired = false): void {
    this.#report.findings.push({
      what,
      message: `${basename(this.path)}: ${message}`,
      repaired,
      ...(this.id === undefined ? {} : { session: this.id }),
    });
  }
}
