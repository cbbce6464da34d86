// The room of the journal targets: an arbitrarily damaged file or table is read, or refused with a typed error.
//
// Never silently less than was acknowledged, and the same for a reader that watched the file grow as for one that opens it
// now. The verifier checks the same file, and folds its records.

import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { workerData } from "node:worker_threads";
import { crc32 } from "node:zlib";
import { formatVersion, type Json, type LogRecord } from "@rondo/core";
import { checkJournal, jsonlJournal, sqliteJournal } from "@rondo/journal";
import type { Chance } from "../chance.ts";
import { isObject, mutateJson, mutateList, mutateText } from "./mutate.ts";
import { bytesOf, type FuzzTarget, latin, outcomeOf, same, utf8 } from "./target.ts";

const session = "s";
let folder: string | undefined;
let runs = 0;

/** A new place for each input; the previous one is removed. */
function place(): string {
  folder ??= mkdtempSync(join(scratch(), "journal-"));
  rmSync(join(folder, String(runs)), { recursive: true, force: true });
  runs += 1;
  const own = join(folder, String(runs));
  mkdirSync(own);
  return own;
}

const scratch = (): string =>
  typeof workerData?.scratch === "string" ? (workerData.scratch as string) : tmpdir();

const stamped = (seq: number): { seq: number; at: number; rand: number } => ({
  seq,
  at: 1_700_000_000_000 + seq,
  rand: 0.5,
});

/** Records of a short run, or similar to them. */
function records(chance: Chance): Json[] {
  const origin = { api: "a", provider: "p", model: "m" };
  const made: Json[] = [
    {
      type: "run_started",
      format: formatVersion,
      input: [{ role: "user", content: [{ type: "text", text: "go" }] }],
      ...stamped(0),
    },
    { type: "model_started", model: "p/m", attempt: 1, ...stamped(1) },
    {
      type: "model_finished",
      message: {
        role: "assistant",
        origin,
        stop: { kind: "tool_use", wire: "tool_use" },
        content: [{ type: "tool_call", id: "c", name: "look", args: {}, rawArgs: "{}" }],
      },
      ...stamped(2),
    },
    { type: "abort_asked", ...stamped(3) },
    { type: "run_ended", result: { kind: "completed" }, ...stamped(4) },
  ];
  const some = made.slice(0, 1 + chance.below(made.length));
  return some.map((record) => (chance.is(0.2) ? mutateJson(chance, record) : record));
}

/** A line with a checksum that matches its content. */
function sealed(rest: string): string {
  const bytes = Buffer.from(rest, "latin1");
  return `{"crc":"${crc32(bytes).toString(16).padStart(8, "0")}",${rest}\n`;
}

function jsonlPieces(chance: Chance): string[] {
  let seq = 0;
  const groups = chance.many(1 + chance.below(4), () => {
    const held = records(chance).map((record, at) =>
      isObject(record) && chance.is(0.95) ? { ...record, seq: seq + at } : record,
    );
    const text = `"seq":${seq},"records":${JSON.stringify(held)}}`;
    seq += held.length;
    return utf8(text);
  });
  const header = `"rondo":"session","format":1,"id":${JSON.stringify(session)}}`;
  const rests = [header, ...groups].map((rest) => (chance.is(0.1) ? mutateText(chance, rest) : rest));
  const lines = (chance.is(0.15) ? mutateList(chance, rests) : rests).map(sealed);
  return chance.is(0.3) ? lines.map((line) => (chance.is(0.3) ? mutateText(chance, line) : line)) : lines;
}

const jsonlTarget: FuzzTarget = {
  name: "journal-jsonl",
  make: (chance) => jsonlPieces(chance),
  run(input) {
    if (!Array.isArray(input) || !input.every((piece) => typeof piece === "string")) return undefined;
    const own = place();
    // Ask the journal itself for the file's name.
    const namer = jsonlJournal(own);
    namer.append(session, 0, [{ type: "abort_asked", ...stamped(0) } as unknown as LogRecord]);
    const file = join(own, readdirSync(own).find((name) => name.endsWith(".jsonl")) ?? "");
    namer.close();
    const first = jsonlJournal(own, { warn: () => {} });
    const half = input.length >> 1;
    writeFileSync(file, bytesOf(input.slice(0, half).join("")));
    outcomeOf(() => first.read(session));
    appendFileSync(file, bytesOf(input.slice(half).join("")));
    const grown = outcomeOf(() => first.read(session));
    const fresh = jsonlJournal(own, { warn: () => {} });
    const opened = outcomeOf(() => fresh.read(session));
    same([opened, grown], "reading afresh and reading on, of which");
    const listed = outcomeOf(() => fresh.list());
    const checked = outcomeOf(() => checkJournal(own));
    const length = "gave" in opened ? (opened.gave as unknown[]).length : 0;
    const added = outcomeOf(() => {
      fresh.append(session, length, [{ type: "abort_asked", ...stamped(length) } as unknown as LogRecord]);
      return fresh.read(session).length;
    });
    if ("gave" in opened)
      same([{ gave: length + 1 }, added], "the length that is due and the one there is, of which");
    first.close();
    fresh.close();
    return { opened, listed, checked };
  },
};

let template: Uint8Array | undefined;

/** An empty journal with one session, as bytes. */
function emptyDatabase(): Uint8Array {
  if (template !== undefined) return template;
  const file = join(place(), "template.sqlite");
  const journal = sqliteJournal(file);
  journal.append(session, 0, [{ type: "abort_asked", ...stamped(0) } as unknown as LogRecord]);
  journal.close();
  template = new Uint8Array(readFileSync(file));
  return template;
}

const sqliteTarget: FuzzTarget = {
  name: "journal-sqlite",
  share: 0.5,
  make(chance) {
    const rows = records(chance).map((record, seq): Json => {
      const text = JSON.stringify(record);
      return [chance.is(0.05) ? chance.below(9) : seq, chance.is(0.1) ? mutateText(chance, text) : text];
    });
    return {
      rows,
      length: chance.is(0.1) ? chance.below(9) : rows.length,
      format: chance.is(0.1) ? chance.pick([0, 1, formatVersion + 1, -1]) : formatVersion,
      flips: chance.is(0.4)
        ? chance.many(chance.few(20), () => [
            chance.is(0.3) ? chance.below(120) : chance.below(60_000),
            chance.below(256),
          ])
        : [],
    };
  },
  run(input) {
    if (!isObject(input) || !Array.isArray(input.rows) || !Array.isArray(input.flips)) return undefined;
    const bytes = emptyDatabase();
    const file = join(place(), "journal.sqlite");
    writeFileSync(file, bytes);
    const db = new DatabaseSync(file);
    db.exec("PRAGMA synchronous = OFF; DELETE FROM records");
    const put = db.prepare(
      "INSERT OR REPLACE INTO records (session, seq, record) SELECT key, ?, ? FROM sessions",
    );
    for (const row of input.rows)
      if (Array.isArray(row) && Number.isInteger(row[0]) && typeof row[1] === "string")
        put.run(row[0] as number, row[1]);
    if (Number.isInteger(input.length) && Number.isInteger(input.format))
      db.prepare("UPDATE sessions SET length = ?, format = ?").run(
        input.length as number,
        input.format as number,
      );
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    db.close();
    const flipped = new Uint8Array(readFileSync(file));
    for (const flip of input.flips)
      if (
        Array.isArray(flip) &&
        typeof flip[0] === "number" &&
        typeof flip[1] === "number" &&
        flip[0] < flipped.length
      )
        flipped[flip[0]] = flip[1];
    if (input.flips.length > 0) writeFileSync(file, flipped);
    const read = outcomeOf(() => {
      const journal = sqliteJournal(file);
      try {
        return { records: journal.read(session), listed: outcomeOf(() => journal.list()) };
      } finally {
        outcomeOf(() => journal.close());
      }
    });
    return { read, checked: outcomeOf(() => checkJournal(file)), size: latin(flipped).length };
  },
};

export const journalTargets: readonly FuzzTarget[] = [jsonlTarget, sqliteTarget];
