// The room of reading: sessions from the tables of any connection, writable or not.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type LogRecord, messageOf, parsedJson, RondoError, type SessionInfo } from "@rondo/core";
import { mustBeKnownFormat } from "../record-format.ts";
import { checksumIn, whyChanged } from "./tables.ts";

export interface SessionRow {
  key: number;
  length: number;
  format: number;
  /** Missing in tables of version 1, which can be read as they are and are migrated before the first write. */
  bytes: number;
}

export class Sessions {
  readonly #file: string;
  readonly #session: StatementSync;
  readonly #records: StatementSync;
  readonly #list: StatementSync;

  /** @param file its name in errors */
  constructor(db: DatabaseSync, file: string) {
    this.#file = file;
    this.#session = db.prepare("SELECT * FROM sessions WHERE id = ?");
    // One query, so one state of the file: another process may delete the session meanwhile.
    this.#records = db.prepare(
      `SELECT length, format, seq, record, ${checksumIn(db)} FROM sessions LEFT JOIN records ON session = key AND seq >= ? WHERE id = ? ORDER BY seq`,
    );
    this.#list = db.prepare(
      "SELECT id, length, created_at AS createdAt, updated_at AS updatedAt FROM sessions ORDER BY updated_at DESC, key DESC",
    );
  }

  /** @throws RondoError `invalid_request` when its records are of a newer format. */
  row(id: string): SessionRow | undefined {
    const row = this.#session.get(id) as SessionRow | undefined;
    if (row !== undefined) mustBeKnownFormat(row.format, id, this.#file);
    return row;
  }

  read(session: string, from: number): LogRecord[] {
    const rows = this.#records.all(from, session) as {
      length: number;
      format: number;
      seq: number | null;
      record: string;
      crc: number | null;
    }[];
    const [first] = rows;
    if (first === undefined) return [];
    mustBeKnownFormat(first.format, session, this.#file);
    const records: LogRecord[] = [];
    for (const { seq, record, crc } of rows) {
      const due = from + records.length;
      // The one row of a session that has no records from there on.
      if (seq === null) break;
      if (seq !== due) throw this.#damaged(session, due, "it is missing");
      const changed = whyChanged(record, crc);
      if (changed !== undefined) throw this.#damaged(session, due, changed);
      try {
        records.push(parsedJson<LogRecord>(record));
      } catch (thrown) {
        throw this.#damaged(session, due, messageOf(thrown));
      }
    }
    const end = from + records.length;
    if (end < first.length) throw this.#damaged(session, end, "it is missing");
    return records;
  }

  list(): SessionInfo[] {
    return this.#list.all().map((row) => ({ ...(row as unknown as SessionInfo) }));
  }

  #damaged(session: string, seq: number, why: string): RondoError {
    return new RondoError(
      "storage",
      `record ${seq} of session ${JSON.stringify(session)} in the journal ${this.#file} is damaged (${why}); see what is left with \`rondo journal check\`, or restore a copy of the file`,
    );
  }
}
