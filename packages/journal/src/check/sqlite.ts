// The room of checking a SQLite journal: its pages, its tables, its records, and the whole texts of cut results.

import { realpathSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { blobRef, formatVersion, type LogRecord, messageOf, parsedJson } from "@rondo/core";
import { formatOf } from "../record-format.ts";
import { hasTexts } from "../sqlite/blobs.ts";
import { isBlank } from "../sqlite/database.ts";
import { sqliteError } from "../sqlite/errors.ts";
import { checkFile } from "../sqlite/file.ts";
import { loadSqlite } from "../sqlite/library.ts";
import { reading } from "../sqlite/read-only.ts";
import { checksumIn, whyChanged } from "../sqlite/tables.ts";
import { FoldCheck } from "./fold.ts";
import type { CheckOptions, CheckReport, Finding } from "./report.ts";

/** After this many damaged pages SQLite stops looking. */
const mostOfPages = 100;

type Report = Omit<CheckReport, "path">;

export function checkSqlite(file: string, { busyTimeoutMs = 5_000 }: CheckOptions): Report {
  const mayWrite = checkFile(file) === undefined;
  let report = reportOf(file);
  // May run a second time when another process writes meanwhile.
  const look = (db: DatabaseSync): void => {
    report = reportOf(file);
    examine(db, report);
  };
  try {
    // With no -wal or -journal present SQLite would create such files, and a read-only connection leaves them behind.
    const hasBeside = ["-wal", "-journal"].some((ending) => sizeOf(realpathSync(file) + ending) > 0);
    if (mayWrite && hasBeside) lookInto(file, busyTimeoutMs, look);
    else reading(file, busyTimeoutMs, look);
  } catch (thrown) {
    finder(report)(sqliteError(file, "check", thrown).message);
  }
  return report;
}

const reportOf = (file: string): Report => ({
  kind: "sqlite",
  sessions: 0,
  records: 0,
  bytes: sizeOf(file) + sizeOf(`${file}-wal`),
  findings: [],
});

type Found = (message: string, session?: string, what?: Finding["what"]) => void;

const finder =
  ({ findings }: Report): Found =>
  (message, session, what = "damage") => {
    findings.push({ what, message, repaired: false, ...(session === undefined ? {} : { session }) });
  };

function lookInto(file: string, busyTimeoutMs: number, look: (db: DatabaseSync) => void): void {
  const db = new (loadSqlite())(file, { readOnly: true, timeout: busyTimeoutMs });
  try {
    look(db);
  } finally {
    try {
      db.close();
    } catch {
      // Findings made so far are kept.
    }
  }
}

function examine(db: DatabaseSync, report: Report): void {
  const found = finder(report);
  // One snapshot for the whole check, while others may go on writing.
  db.exec("BEGIN");
  for (const row of db.prepare(`PRAGMA integrity_check(${mostOfPages})`).iterate())
    if (row.integrity_check !== "ok") found(`the file: ${String(row.integrity_check)}`);
  // A file that nothing was written to yet has no tables.
  if (isBlank(db)) return;
  const orphans = db
    .prepare(
      "SELECT session, count(*) AS records FROM records WHERE session NOT IN (SELECT key FROM sessions) GROUP BY session",
    )
    .all();
  for (const { session, records } of orphans)
    found(`${records} records belong to session number ${session}, which is not in the list of sessions`);
  const rows = db.prepare(
    `SELECT seq, record, ${checksumIn(db)} FROM records WHERE session = ? ORDER BY seq`,
  );
  for (const { key, id, length } of db.prepare("SELECT key, id, length FROM sessions ORDER BY key").all()) {
    const whole = checkSession(String(id), Number(length), rows.iterate(Number(key)), found);
    report.records += whole.records;
    if (whole.whole) report.sessions += 1;
  }
  checkTexts(db, found);
}

function checkSession(
  id: string,
  length: number,
  rows: Iterable<Row>,
  found: Found,
): { records: number; whole: boolean } {
  const name = `session ${JSON.stringify(id)}`;
  const fold = new FoldCheck();
  let due = 0;
  for (const row of rows) {
    const fault = faultOf(row, due, fold);
    if (fault !== undefined) {
      found(`${name}: ${fault.why}`, id, fault.what);
      return { records: due, whole: false };
    }
    due += 1;
  }
  if (due !== length) found(`${name}: it has ${due} records where the list says ${length}`, id);
  const unpaired = fold.end();
  if (unpaired !== undefined) found(`${name}: ${unpaired}`, id);
  return { records: due, whole: due === length && unpaired === undefined };
}

type Row = Record<string, unknown>;

/** What is wrong with a row; undefined if it is the record that is due, and follows from those before it. */
function faultOf(
  { seq, record: text, crc }: Row,
  due: number,
  fold: FoldCheck,
): { why: string; what?: "newer" } | undefined {
  if (seq !== due) return { why: `record ${due} is missing` };
  const changed = whyChanged(String(text), crc as number | null);
  if (changed !== undefined) return { why: `record ${due} is damaged: ${changed}` };
  let record: LogRecord;
  try {
    record = parsedJson<LogRecord>(String(text));
  } catch (thrown) {
    return { why: `record ${due} is no JSON: ${messageOf(thrown)}` };
  }
  if (record?.seq !== due) return { why: `record ${due} says it is number ${record?.seq}` };
  const format = formatOf(record);
  if (format > formatVersion) {
    const why = `its records are of format ${format}, and this Rondo knows ${formatVersion}; update it`;
    return { why, what: "newer" };
  }
  const why = fold.add(record);
  return why === undefined ? undefined : { why };
}

/** Each text's name must be its digest. */
function checkTexts(db: DatabaseSync, found: Found): void {
  if (!hasTexts(db)) return;
  for (const { session, ref, text } of db.prepare("SELECT session, ref, text FROM blobs").iterate())
    if (!(text instanceof Uint8Array) || blobRef(Buffer.from(text).toString("utf8")) !== ref)
      found(`session ${JSON.stringify(session)}: its whole text ${String(ref)} is damaged`, String(session));
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
