// The room of the library: loads node:sqlite, and reads the numbers in the header of a database.

import type { DatabaseSync } from "node:sqlite";
import { RondoError } from "@rondo/core";

/** Lazily, because importing a journal must cost nothing; quietly, because Node 22 warns that the module is experimental. */
export function loadSqlite(): typeof DatabaseSync {
  const { emitWarning } = process;
  const quieter = (warning: string | Error, ...rest: unknown[]): void => {
    if (String(warning).includes("SQLite")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  process.emitWarning = quieter;
  try {
    const sqlite = process.getBuiltinModule("node:sqlite");
    if (sqlite !== undefined) return sqlite.DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
  throw new RondoError(
    "invalid_request",
    `journals in files need Node 22.18 or newer; this is Node ${process.versions.node}, which has no node:sqlite`,
  );
}

export function pragma(db: DatabaseSync, name: "application_id" | "user_version"): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}
