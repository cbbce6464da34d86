// The room of the tables: what they are today, and how those of older versions become them.
//
// A step is never changed once it was published: somewhere a file still waits for it.

import type { DatabaseSync } from "node:sqlite";

/** The version of the tables. A file with a higher one is refused. */
export const tablesVersion = 2;

// Taken once and kept: a token must never be given again. They may be older than their session.
const leases = `
  CREATE TABLE leases (
    session TEXT PRIMARY KEY,
    token INTEGER NOT NULL,
    owner TEXT,
    process TEXT,
    at REAL NOT NULL,
    ttl REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

// `format` is the highest record format in the session, `bytes` the length of its records. Rows are addressed by
// number: ids can be long. With rowids: records are often larger than a quarter of a page, which WITHOUT ROWID pays
// for twice over.
export const tables: string = `
  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    length INTEGER NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    format INTEGER NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE records (
    session INTEGER NOT NULL REFERENCES sessions (key),
    seq INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT;
  ${leases}
`;

/** What makes tables of one version those of the next, by the version they come from. */
const steps: { readonly [version: number]: string } = {
  1: `
    ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE sessions SET bytes =
      (SELECT coalesce(sum(octet_length(record)), 0) FROM records WHERE session = sessions.key);
    ${leases}
  `,
};

/** Brings older tables up to today's, all steps or none. */
export function migrateTables(db: DatabaseSync, version: () => number): void {
  if (version() >= tablesVersion) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Looked at again: another process may have done it while we waited for the lock.
    for (let from = version(); from < tablesVersion; from += 1) db.exec(steps[from] ?? "");
    db.exec(`PRAGMA user_version = ${tablesVersion}`);
    db.exec("COMMIT");
  } catch (thrown) {
    if (db.isTransaction !== false) db.exec("ROLLBACK");
    throw thrown;
  }
}
