// The journal a program of a test is told to open: `jsonl:DIR`, `small-jsonl:DIR` with small files, or a SQLite file.

import { type JsonlJournal, jsonlJournal, type SqliteJournal, sqliteJournal } from "@rondo/journal";

export function namedJournal(name: string): JsonlJournal | SqliteJournal {
  const [, small, folder] = /^(small-)?jsonl:(.*)$/.exec(name) ?? [];
  if (folder === undefined) return sqliteJournal(name);
  return jsonlJournal(folder, { ...(small === undefined ? {} : { rotateBytes: 2_000 }) });
}
