// The room of reading: sessions from the tables of any connection, writable or not.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type LogRecord, messageOf, RondoError, type SessionInfo } from "@rondo/core";
import { mustBeKnownFormat } from "../record-format.ts";

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
    this.#records = db.prepare("SELECT seq, record FROM records WHERE session = ? AND seq >= ? ORDER BY seq");
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
    const row = this.row(session);
    if (row === undefined) return [];
    const rows = this.#records.all(row.key, from) as { seq: number; record: string }[];
    const records = rows.map(({ seq, record }, i) => {
      if (seq !== from + i) throw this.#damaged(session, from + i, "it is missing");
      try {
        return JSON.parse(record) as LogRecord;
      } catch (thrown) {
        throw this.#damaged(session, seq, messageOf(thrown));
      }
    });
    // The length was read first: records may have been added since, but none removed.
    const end = from + records.length;
    if (end < row.length) throw this.#damaged(session, end, "it is missing");
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
