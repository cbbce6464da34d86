// The room of statements: what the journal asks of its database over and over, each prepared once.

import type { DatabaseSync, StatementSync } from "node:sqlite";

const texts = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  addSession:
    "INSERT INTO sessions (id, length, created_at, updated_at, format, bytes) VALUES (?, ?, ?, ?, ?, ?)",
  growSession: "UPDATE sessions SET length = ?, updated_at = ?, format = ?, bytes = ? WHERE key = ?",
  addRecord: "INSERT INTO records (session, seq, record, crc) VALUES (?, ?, ?, ?)",
  lease: "SELECT token, owner, process, at, ttl FROM leases WHERE session = ?",
  putLease:
    "INSERT OR REPLACE INTO leases (session, token, owner, process, at, ttl) VALUES (?, ?, ?, ?, ?, ?)",
  idsBetween:
    "SELECT id FROM sessions WHERE id > ?1 AND id < ?2 UNION SELECT session FROM leases WHERE session > ?1 AND session < ?2",
  deleteRecords: "DELETE FROM records WHERE session = (SELECT key FROM sessions WHERE id = ?)",
  deleteSession: "DELETE FROM sessions WHERE id = ?",
  deleteLease: "DELETE FROM leases WHERE session = ?",
  dataVersion: "PRAGMA data_version",
} as const;

export type Statements = Readonly<Record<keyof typeof texts, StatementSync>>;

/** @throws SQLite's error if a table or a column is missing */
export const prepare = (db: DatabaseSync): Statements =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, db.prepare(text)])) as Statements;
