// The journal a program of a test is told to open: `jsonl:DIR`, or a SQLite file.

import { type JsonlJournal, jsonlJournal, type SqliteJournal, sqliteJournal } from "@rondo/journal";

export function namedJournal(name: string): JsonlJournal | SqliteJournal {
  return name.startsWith("jsonl:") ? jsonlJournal(name.slice("jsonl:".length)) : sqliteJournal(name);
}
