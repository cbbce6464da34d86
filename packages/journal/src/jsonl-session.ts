// The room of one session's file: what is known of it, kept up with what others append.
//
// Nothing is held in memory but where each line stands, so that appending and following cost what is new. A file that
// grew is read from where it was known; one that shrank, or is another file by now, is read again from its beginning.

import { fstatSync } from "node:fs";
import { formatVersion, type LogRecord, RondoError } from "@rondo/core";
import { type Line, linesVersion, type Place, type Scanned, scan } from "./jsonl-lines.ts";

const beginning: Place = { line: 1, offset: 0, seq: 0 };

export class SessionFile {
  readonly #path: string;
  readonly #session: string;
  #file: number | bigint = -1;
  /** Where each group begins. */
  #groups: Place[] = [];
  #end: Place = beginning;
  /** The highest format of its records. */
  #format = 0;

  constructor(path: string, session: string) {
    this.#path = path;
    this.#session = session;
  }

  /** How many records it has. */
  get length(): number {
    return this.#end.seq;
  }

  /** How many bytes of it count. */
  get size(): number {
    return this.#end.offset;
  }

  /** Nothing is known of it any more. */
  forget(): void {
    this.#groups = [];
    this.#end = beginning;
    this.#format = 0;
  }

  /**
   * Reads what was appended since the last time.
   * @returns bytes of a torn tail
   * @throws RondoError `storage` naming the line that is damaged; `invalid_request` for what is newer, or another's
   */
  refresh(file: number): number {
    const { ino, size } = fstatSync(file);
    if (ino !== this.#file || size < this.#end.offset) this.forget();
    this.#file = ino;
    if (size === this.#end.offset) return 0;
    return this.#take(
      scan(file, this.#end, size, (line) => this.#know(line)),
      size,
    );
  }

  /** The records from one on. */
  read(file: number, from: number): LogRecord[] {
    this.refresh(file);
    if (from >= this.length) return [];
    const records: LogRecord[] = [];
    const scanned = scan(file, this.#groupOf(from), this.size, (line) => {
      if (line.what === "group")
        records.push(...(line.seq >= from ? line.records : line.records.slice(from - line.seq)));
    });
    this.#take(scanned, this.size);
    return records;
  }

  /** A group was appended. */
  appended(head: number, bytes: number, records: readonly LogRecord[]): void {
    const { line, offset, seq } = this.#end;
    const group: Place = { line: head > 0 ? 2 : line, offset: offset + head, seq };
    this.#groups.push(group);
    this.#end = { line: group.line + 1, offset: group.offset + bytes, seq: seq + records.length };
    for (const record of records) if (record.type === "run_started") this.#format = record.format;
  }

  /** @throws RondoError `invalid_request` when its records are of a newer format */
  checkFormat(): void {
    if (this.#format > formatVersion)
      throw new RondoError(
        "invalid_request",
        `session ${JSON.stringify(this.#session)} in the journal ${this.#path} has records of format ${this.#format}, ` +
          `written by a newer Rondo (this one knows ${formatVersion}); update @rondo/core`,
      );
  }

  #know(line: Line): void {
    if (line.what === "group") {
      this.#groups.push({ line: line.line, offset: line.offset, seq: line.seq });
      for (const record of line.records)
        if (record.type === "run_started" && record.format > this.#format) this.#format = record.format;
    } else if (line.header.format > linesVersion)
      throw new RondoError(
        "invalid_request",
        `cannot read the journal ${this.#path}: it has format ${line.header.format}, written by a newer Rondo ` +
          `(this one knows ${linesVersion}); update @rondo/journal`,
      );
    else if (line.header.id !== this.#session)
      throw new RondoError(
        "storage",
        `the journal ${this.#path} holds session ${JSON.stringify(line.header.id)}, not ${JSON.stringify(this.#session)}: ` +
          "the file was renamed; give it its name again",
      );
    this.#end = { line: line.line + 1, offset: line.end, seq: this.#end.seq };
    if (line.what === "group") this.#end.seq += line.records.length;
  }

  #take({ damage, torn }: Scanned, size: number): number {
    if (damage === undefined) return torn;
    throw new RondoError(
      "storage",
      `line ${damage.line} of the journal ${this.#path} (record ${damage.seq} of session ${JSON.stringify(this.#session)}) ` +
        `is damaged: ${damage.why}; ${this.#end.seq} records before it are whole, ${size - this.#end.offset} bytes ` +
        "from there on are not read; restore a copy of the file",
    );
  }

  /** The group that holds a record. */
  #groupOf(seq: number): Place {
    let low = 0;
    let high = this.#groups.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#groups[middle]?.seq ?? 0) <= seq) low = middle;
      else high = middle - 1;
    }
    return this.#groups[low] ?? beginning;
  }
}
