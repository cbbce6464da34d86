// The room of mistakes: journals and loops that deliberately break promises, to test that the harness notices.
//
// Each is small and realistic: acknowledged before it was durable, forgotten at the next start, written twice, written in
// another order, the intent after the effect, a message that never arrived.

import { existsSync, readdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Journal, LogRecord } from "@rondo/core";
import { type JournalKind, journalPath } from "./place.ts";

/** Each mistake, and what it does. */
export const mistakes = {
  ack_before_write: "says that a group is stored, and stores it with the next one",
  drop_last_group: "forgets the last group when it is opened again",
  repeat_group: "stores a group twice",
  reorder_group: "stores the records of a group in another order",
  late_intent: "lets a tool start before its intent is stored",
  write_again: "starts a write again whose outcome nobody knows",
  lose_message: "never stores the messages that are queued",
} as const;

export type Mistake = keyof typeof mistakes;

export const isMistake = (name: string): name is Mistake => Object.hasOwn(mistakes, name);

/** A journal that makes the mistake. */
export function mistaken(journal: Journal, mistake: Mistake | undefined): Journal {
  switch (mistake) {
    case "ack_before_write":
      return delaying(journal, () => 0);
    case "late_intent":
      return delaying(journal, (records) => records.findIndex((record) => record.type === "tool_started"));
    case "repeat_group":
      return repeating(journal);
    case "reorder_group":
      return changing(journal, (records) => {
        const [first, second, ...rest] = records;
        return first === undefined || second === undefined
          ? records
          : [{ ...second, seq: first.seq }, { ...first, seq: second.seq }, ...rest];
      });
    case "lose_message":
      return changing(journal, (records) =>
        records.map(({ seq, at, rand, ...fact }) =>
          fact.type === "queued" ? { type: "woke", seq, at, rand } : { ...fact, seq, at, rand },
        ),
      );
    default:
      return journal;
  }
}

type Append = Journal["append"];

const withAppend = (journal: Journal, append: Append): Journal => ({
  append,
  read: (session, from) => journal.read(session, from),
  list: () => journal.list(),
  ...(journal.lease === undefined ? {} : { lease: journal.lease.bind(journal) }),
  ...(journal.blobs === undefined ? {} : { blobs: journal.blobs }),
});

/** Holds groups back, from a record on, until the next one comes or the process is idle. -1: holds nothing back. */
function delaying(journal: Journal, from: (records: readonly LogRecord[]) => number): Journal {
  let held: Parameters<Append> | undefined;
  const store = (): void => {
    const group = held;
    held = undefined;
    if (group !== undefined) void journal.append(...group);
  };
  process.on("exit", store);
  return withAppend(journal, (session, seq, records, token) => {
    store();
    const at = from(records);
    const now = at < 0 ? records : records.slice(0, at);
    if (now.length > 0 || records.length === 0) void journal.append(session, seq, now, token);
    const later = records.slice(now.length);
    if (later.length > 0)
      held = token === undefined ? [session, seq + at, later] : [session, seq + at, later, token];
  });
}

/** Repeats a session's first group with a delivery. */
function repeating(journal: Journal): Journal {
  let shift = 0;
  let whose: string | undefined;
  return withAppend(journal, (session, seq, records, token) => {
    if (whose !== undefined && session !== whose) return journal.append(session, seq, records, token);
    const stored = records.map((record) => ({ ...record, seq: record.seq + shift }));
    void journal.append(session, seq + shift, stored, token);
    if (shift > 0 || !records.some((record) => record.type === "delivered")) return;
    shift = records.length;
    whose = session;
    const again = records.map((record) => ({ ...record, seq: record.seq + shift }));
    void journal.append(session, seq + shift, again, token);
  });
}

const changing = (
  journal: Journal,
  change: (records: readonly LogRecord[]) => readonly LogRecord[],
): Journal =>
  withAppend(journal, (session, seq, records, token) => journal.append(session, seq, change(records), token));

/** Removes the last group from the files of a journal that nobody has open. */
export function dropLastGroup(kind: JournalKind, folder: string): void {
  const path = journalPath(kind, folder);
  if (!existsSync(path)) return;
  if (kind === "sqlite") {
    const db = new DatabaseSync(path);
    db.exec(
      "DELETE FROM records WHERE (session, seq) IN (SELECT session, max(seq) FROM records GROUP BY session); UPDATE sessions SET length = length - 1",
    );
    db.close();
    return;
  }
  const names = readdirSync(path).filter((one) => one.endsWith(".jsonl"));
  for (const name of names) {
    const [session, segment = "1"] = name.slice(0, -".jsonl".length).split(".");
    // Of a session's files only the newest grows.
    if (names.includes(`${session}.${Number(segment) + 1}.jsonl`)) continue;
    const text = readFileSync(join(path, name));
    const end = text.lastIndexOf("\n", text.length - 2) + 1;
    if (end > 0) truncateSync(join(path, name), end);
  }
}
