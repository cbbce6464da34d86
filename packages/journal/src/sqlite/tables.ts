// The room of the tables: their current version, the migrations from older ones, and the checksums in them.
//
// A published migration is never changed: some file still waits for it.

import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";

/** The version of the tables. A file with a higher one is refused. */
export const tablesVersion = 3;

// A row outlives its lease, because a token must never be issued twice; `delete` keeps the highest one in the row with
// the empty name. A row may be older than its session.
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

// `format` is the highest record format in the session, `bytes` the length of its records. Records refer to sessions
// by number, because ids can be long. WITHOUT ROWID is not used: records are often larger than a quarter of a page,
// where it costs twice the space. `crc` is the CRC-32 of the record's text, because SQLite's pages have no checksums; it
// is missing in rows of older versions.
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
    crc INTEGER,
    PRIMARY KEY (session, seq)
  ) STRICT;
  ${leases}
`;

/** Migrations to the next version, by the version they start from. */
const steps: { readonly [version: number]: string } = {
  1: `
    ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE sessions SET bytes =
      (SELECT coalesce(sum(octet_length(record)), 0) FROM records WHERE session = sessions.key);
    ${leases}
  `,
  2: "ALTER TABLE records ADD COLUMN crc INTEGER;",
};

/** Migrates older tables to the current version: all steps or none. */
export function migrateTables(db: DatabaseSync, version: () => number): void {
  if (version() >= tablesVersion) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Checked again under the lock: another process may have migrated meanwhile.
    for (let from = version(); from < tablesVersion; from += 1) db.exec(steps[from] ?? "");
    db.exec(`PRAGMA user_version = ${tablesVersion}`);
    db.exec("COMMIT");
  } catch (thrown) {
    if (db.isTransaction !== false) db.exec("ROLLBACK");
    throw thrown;
  }
}

/** The column of checksums in a query of records; before version 3 there is none. */
export function checksumIn(db: DatabaseSync): "crc" | "NULL AS crc" {
  const query = "SELECT 1 FROM pragma_table_info('records') WHERE name = 'crc'";
  return db.prepare(query).get() === undefined ? "NULL AS crc" : "crc";
}

/** Why a record's text is not what was written; undefined if it is, or if it has no checksum. */
export function whyChanged(record: string, crc: number | null): string | undefined {
  if (crc === null) return undefined;
  const is = crc32(record);
  return is === crc ? undefined : `its checksum is ${is}, not ${crc}`;
}
