// The room of checking a JSONL journal: every line of every file, and the one repair there is.

import { fstatSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { formatVersion } from "@rondo/core";
import type { CheckOptions, CheckReport, Finding } from "./check.ts";
import { FoldCheck } from "./check-fold.ts";
import { FolderLock } from "./folder-lock.ts";
import { cutDurably, fileError, withFile } from "./jsonl-files.ts";
import { linesVersion, scan } from "./jsonl-lines.ts";
import { nameOf, suffix } from "./jsonl-names.ts";

type Report = Omit<CheckReport, "path">;

export function checkJsonl(path: string, { repair = false, busyTimeoutMs = 5_000 }: CheckOptions): Report {
  const isFolder = statSync(path).isDirectory();
  const folder = isFolder ? path : dirname(path);
  const names = isFolder
    ? readdirSync(path)
        .filter((name) => name.endsWith(suffix))
        .sort()
    : [basename(path)];
  const report: Report = { kind: "jsonl", sessions: 0, records: 0, bytes: 0, findings: [] };
  const lock = repair ? new FolderLock(join(folder, "lock"), busyTimeoutMs) : undefined;
  try {
    for (const name of names) {
      const file = join(folder, name);
      try {
        // A live writer may be in the middle of a line: only under the lock is what looks torn torn.
        if (lock === undefined) checkOne(file, false, report);
        else lock.hold(() => checkOne(file, true, report));
      } catch (thrown) {
        const { message } = fileError(file, "check", thrown);
        report.findings.push({ what: "damage", message, repaired: false });
      }
    }
  } finally {
    lock?.close();
  }
  return report;
}

function checkOne(path: string, repair: boolean, report: Report): void {
  const name = basename(path);
  let session: string | undefined;
  const wrong: string[] = [];
  const found = (message: string, what: Finding["what"] = "damage", repaired = false): void => {
    report.findings.push({
      what,
      message: `${name}: ${message}`,
      repaired,
      ...(session === undefined ? {} : { session }),
    });
  };
  const fold = new FoldCheck();
  withFile(path, repair ? "r+" : "r", (file) => {
    const { size } = fstatSync(file);
    report.bytes += size;
    let newer: number | undefined;
    const { end, torn, damage } = scan(file, { line: 1, offset: 0, seq: 0 }, size, (line) => {
      if (line.what === "header") {
        session = line.header.id;
        if (line.header.format > linesVersion) newer = line.header.format;
        if (name !== nameOf(session) + suffix)
          wrong.push(
            `it holds session ${JSON.stringify(session)}, whose file is ${nameOf(session)}${suffix}`,
          );
        return;
      }
      for (const record of line.records) {
        if (record.type === "run_started" && record.format > formatVersion) newer = record.format;
        if (newer !== undefined || wrong.length > 0) return;
        const why = fold.add(record);
        if (why !== undefined) wrong.push(`line ${line.line}: ${why}`);
      }
    });
    if (newer !== undefined) {
      found(`it is of format ${newer}, written by a newer Rondo; update this one`, "newer");
      return;
    }
    if (damage !== undefined)
      found(
        `line ${damage.line} (record ${damage.seq}) is damaged: ${damage.why}; ${end.seq} records before it are whole, ` +
          `${size - end.offset} bytes from there on were not read`,
      );
    const unpaired = fold.end();
    if (damage === undefined && wrong.length === 0 && unpaired !== undefined) wrong.push(unpaired);
    for (const why of wrong) found(why);
    if (torn > 0) {
      if (repair) cutDurably(file, end.offset);
      const tail = `${torn} bytes behind line ${end.line - 1} are what is left of a group that was never acknowledged`;
      found(`${tail}${repair ? "; they were cut off" : ""}`, "torn_tail", repair);
    }
    report.records += end.seq;
    if (session !== undefined && end.seq > 0 && damage === undefined && wrong.length === 0)
      report.sessions += 1;
  });
}
