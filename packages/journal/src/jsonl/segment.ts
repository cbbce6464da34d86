// The room of one segment: what is known of one file of a session, kept up to date with what others append.
//
// Only the offsets of its lines are held in memory, so appending and following read only what is new. When the
// file grew it is read from the known end; when it shrank or was replaced, what was known is discarded.

import { fstatSync } from "node:fs";
import { type LogRecord, RondoError } from "@rondo/core";
import { highestFormat, mustBeKnownFormat } from "../record-format.ts";
import {
  behindSeal,
  changedInPlace,
  type Line,
  linesVersion,
  noHead,
  type Place,
  type Scanned,
  scan,
  wholeBefore,
} from "./lines.ts";

export class Segment {
  readonly path: string;
  /** From 1. */
  readonly number: number;
  readonly #session: string;
  readonly #beginning: Place;
  #file: number | bigint | undefined;
  /** Where each group begins. */
  #groups: Place[] = [];
  #end: Place;
  #sealed = false;
  /** The highest format of its records. */
  #format = 0;

  /** @param seq the seq of its first record */
  constructor(path: string, session: string, number: number, seq: number) {
    this.path = path;
    this.number = number;
    this.#session = session;
    this.#beginning = { line: 1, offset: 0, seq };
    this.#end = this.#beginning;
  }

  /** The session's record count at the end of this segment. */
  get length(): number {
    return this.#end.seq;
  }

  /** How many bytes of it count: up to the last whole line. */
  get size(): number {
    return this.#end.offset;
  }

  /** It ends in a seal: the session continues in the next segment. */
  get sealed(): boolean {
    return this.#sealed;
  }

  get isEmpty(): boolean {
    return this.#groups.length === 0;
  }

  /** Whether the path now has another file, or one shorter than what is known. */
  isOther(file: number): boolean {
    const { ino, size } = fstatSync(file);
    return this.#file !== undefined && (ino !== this.#file || size < this.#end.offset);
  }

  /**
   * Reads what was appended since the last time.
   * @returns bytes of a torn tail
   * @throws RondoError `storage` naming the damaged line; `invalid_request` for a newer format, or another session's file
   */
  refresh(file: number): number {
    const { ino, size } = fstatSync(file);
    this.#file = ino;
    const damaged = (why: string): number => {
      const { line, seq } = this.#end;
      return this.#take({ end: this.#end, torn: 0, damage: { line, seq, why } }, size);
    };
    if (this.#sealed) return size > this.#end.offset ? damaged(behindSeal) : 0;
    const scanned = scan(file, this.#end, size, (line) => this.#know(line));
    const torn = this.#take(scanned, size);
    // The first file is created with its first group; a later one has its head before it gets its name.
    return this.number > 1 && this.size === 0 ? damaged(noHead) : torn;
  }

  /** The known records from a seq on. */
  read(file: number, from: number): LogRecord[] {
    if (from >= this.length) return [];
    const records: LogRecord[] = [];
    const scanned = scan(file, this.#groupOf(from), this.size, (line) => {
      if (line.what !== "group") return;
      // One by one: a fork of a long session is one group, with more records than a call takes as arguments.
      for (let at = Math.max(0, from - line.seq); at < line.records.length; at += 1)
        records.push(line.records[at] as LogRecord);
    });
    // What was whole before cannot be a torn tail now.
    const { line, seq } = scanned.end;
    const changed = scanned.torn > 0 ? { damage: { line, seq, why: changedInPlace } } : {};
    this.#take({ ...scanned, ...changed }, this.size);
    return records;
  }

  /** Notes that a group was appended. */
  appended(head: number, bytes: number, records: readonly LogRecord[]): void {
    const { line, offset, seq } = this.#end;
    const group: Place = { line: head > 0 ? 2 : line, offset: offset + head, seq };
    this.#groups.push(group);
    this.#end = { line: group.line + 1, offset: group.offset + bytes, seq: seq + records.length };
    this.#format = highestFormat(records, this.#format);
  }

  /** Notes that the seal was appended. */
  sealedBy(bytes: number): void {
    this.#end = { ...this.#end, line: this.#end.line + 1, offset: this.#end.offset + bytes };
    this.#sealed = true;
  }

  /** @throws RondoError `invalid_request` when its records have a newer format */
  checkFormat(): void {
    mustBeKnownFormat(this.#format, this.#session, this.path);
  }

  #know(line: Line): void {
    if (line.what === "group") {
      this.#groups.push({ line: line.line, offset: line.offset, seq: line.seq });
      this.#format = highestFormat(line.records, this.#format);
    } else if (line.what === "seal") this.#sealed = true;
    else if (line.header.format > linesVersion)
      throw new RondoError(
        "invalid_request",
        `cannot read the journal ${this.path}: it has format ${line.header.format}, written by a newer Rondo ` +
          `(this one knows ${linesVersion}); update @rondo/journal`,
      );
    else if (line.header.id !== this.#session)
      throw new RondoError(
        "storage",
        `the journal ${this.path} holds session ${JSON.stringify(line.header.id)}, not ${JSON.stringify(this.#session)}: ` +
          "the file was renamed; give it its name again",
      );
    else if ((line.header.segment ?? 1) !== this.number)
      throw new RondoError(
        "storage",
        `the journal ${this.path} is file ${line.header.segment ?? 1} of its session, not ${this.number}: ` +
          "it was renamed; give it its name again",
      );
    this.#end = { line: line.line + 1, offset: line.end, seq: this.#end.seq };
    if (line.what === "group") this.#end.seq += line.records.length;
  }

  #take({ damage, torn }: Scanned, size: number): number {
    if (damage === undefined) return torn;
    throw new RondoError(
      "storage",
      `line ${damage.line} of the journal ${this.path} (record ${damage.seq} of session ${JSON.stringify(this.#session)}) ` +
        `is damaged: ${damage.why}; ${wholeBefore(this.#end.seq)}, ${size - this.#end.offset} bytes ` +
        "from there on are not read; restore a copy of the file",
    );
  }

  /** The group that contains a record. */
  #groupOf(seq: number): Place {
    let low = 0;
    let high = this.#groups.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#groups[middle]?.seq ?? 0) <= seq) low = middle;
      else high = middle - 1;
    }
    return this.#groups[low] ?? this.#beginning;
  }
}
