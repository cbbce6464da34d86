// The room of formats: converts records of an older format to today's when they are read, and refuses those of a newer one.
//
// A journal is never rewritten for this: what was written stays as it is. Each step from one version to the next is one pure
// function of one record. A record has the format of its run.

import { invalidRequest, RondoError, toRondoError } from "../errors.ts";
import type { Journal } from "../journal.ts";
import { formatVersion, type LogRecord, type RecordOf } from "../loop/records.ts";
import { readRecords } from "./failure.ts";
import { whenThere } from "./maybe-async.ts";
import { isKnownType } from "./record-types.ts";

/** Converts a record of one format to the next, by the format it comes from; a format without an entry changed nothing. */
export type Migrations = { readonly [format: number]: (record: LogRecord) => LogRecord };

/** Version 1 is the first. */
const migrations: Migrations = {};

/** Checks a session's records one after another, wherever they come from: this version can fold the record, or it is refused. */
export class RecordJudge {
  readonly #steps: Migrations;
  readonly #today: number;
  /** The versions with a step, in order. A damaged record may have any number as its format, so versions cannot be counted up from it. */
  readonly #versions: readonly number[];
  #format: number | undefined;
  /** The last group that was searched for a run. A group is long if messages came before the first run. */
  #searched: readonly LogRecord[] | undefined;

  /**
   * @param format of the run before the first record. Default: there is none
   * @param steps default: the table of this version
   * @param today default: the format of this version
   */
  constructor(format?: number, steps: Migrations = migrations, today: number = formatVersion) {
    this.#format = format;
    this.#steps = steps;
    this.#today = today;
    this.#versions = Object.keys(steps)
      .map(Number)
      .filter((version) => version < today)
      .sort((one, other) => one - other);
  }

  /**
   * A record in today's format.
   * @param seq its expected sequence number
   * @param group the group it is in
   * @throws RondoError saying what is wrong with the record, not which one it is: `invalid_request` for a newer format,
   * `storage` for a wrong sequence number, an unknown type, or an invalid format
   */
  judge(record: LogRecord, seq: number, group: readonly LogRecord[]): LogRecord {
    if (record.seq !== seq)
      throw new RondoError(
        "storage",
        `its sequence number is ${record.seq}, but it is number ${seq} here: give all records of one session, in order`,
      );
    if (record.type === "run_started") this.#format = record.format;
    // Records before the first run were written together with it, or just before.
    else if (this.#format === undefined && this.#searched !== group) {
      this.#searched = group;
      this.#format = group.find(isStart)?.format;
    }
    const format = this.#format ?? this.#today;
    if (!Number.isSafeInteger(format))
      throw new RondoError(
        "storage",
        `its journal format is ${JSON.stringify(format)}, which is not a whole number`,
      );
    if (format > this.#today)
      throw invalidRequest(
        `it was written by a newer version (journal format ${format}, this is ${this.#today}): update rondo`,
      );
    let current = record;
    for (const version of this.#versions)
      if (version >= format) current = this.#steps[version]?.(current) ?? current;
    if (isKnownType(current)) return current;
    throw new RondoError("storage", "this version knows no such type: update rondo");
  }
}

/** Reads a session repeatedly, each time from where it stopped, and returns its records in today's format. */
export class RecordReader {
  readonly #journal: Journal;
  readonly #session: string;
  readonly #steps: Migrations;
  readonly #format: number;
  #at: number;
  /** Identifies the last record that was read, to notice if another one is in its place. */
  #last: string | undefined;
  #judge: RecordJudge | undefined;
  #demandsBefore = false;

  /**
   * @param from the first record that is wanted
   * @param steps default: the table of this version
   * @param today default: the format of this version
   */
  constructor(
    journal: Journal,
    session: string,
    from: number = 0,
    steps: Migrations = migrations,
    today: number = formatVersion,
  ) {
    this.#journal = journal;
    this.#session = session;
    this.#at = from;
    this.#steps = steps;
    this.#format = today;
  }

  /**
   * From now on the records before the first one that is wanted must be there: whoever has reached a place has read them. Otherwise
   * it would wait for a new session to have as many, and get the second half of that.
   */
  demandBefore(): void {
    this.#demandsBefore = true;
  }

  #shorter(): RondoError {
    return new RondoError(
      "storage",
      `session ${JSON.stringify(this.#session)} has fewer than the ${this.#at} records behind which it is to be followed: it was deleted, moved or replaced; put it back, or follow it from the beginning`,
    );
  }

  /**
   * Returns the records that are new since the last call. It starts with the last record read, to see that it is still
   * there: otherwise a follower of a deleted session would wait for ever, and one of a replaced session would get the
   * second half of another.
   * @throws RondoError `invalid_request` for records of a newer format; `storage` if a record is missing or unknown, or if
   * the journal fails
   */
  async read(): Promise<LogRecord[]> {
    return this.readNow();
  }

  /** The same, synchronous if the journal is. */
  readNow(): LogRecord[] | Promise<LogRecord[]> {
    if (this.#judge !== undefined) return whenThere(this.#readOn(), (records) => this.#take(records));
    return whenThere(this.#before(), (before) => {
      const last = before.at(-1);
      if (this.#demandsBefore && before.length < this.#at) throw this.#shorter();
      // A reader that waits for a later record has nothing yet to compare with.
      if (last?.seq === this.#at - 1) this.#last = markOf(last);
      this.#judge = new RecordJudge(before.findLast(isStart)?.format, this.#steps, this.#format);
      return this.readNow();
    });
  }

  #take(records: readonly LogRecord[]): LogRecord[] {
    const current = records.map((record, i) => this.#judged(record, this.#at + i, records));
    this.#at += records.length;
    const last = records.at(-1);
    if (last !== undefined) this.#last = markOf(last);
    return current;
  }

  /** Records before the first one that is wanted: they tell the format of a run in the middle of the session. */
  #before(): LogRecord[] | Promise<LogRecord[]> {
    if (this.#at === 0) return [];
    return whenThere(readRecords(this.#journal, this.#session), (records) =>
      records.filter(({ seq }) => seq < this.#at),
    );
  }

  #readOn(): LogRecord[] | Promise<LogRecord[]> {
    if (this.#last === undefined) return readRecords(this.#journal, this.#session, this.#at);
    return whenThere(readRecords(this.#journal, this.#session, this.#at - 1), ([known, ...records]) => {
      if (known !== undefined && markOf(known) === this.#last) return records;
      throw new RondoError(
        "storage",
        `session ${JSON.stringify(this.#session)} was deleted, moved or replaced while it was read: its record ${this.#at - 1} is ${known === undefined ? "gone" : "another"}; put it back, or read it from the beginning`,
      );
    });
  }

  #judged(record: LogRecord, seq: number, group: readonly LogRecord[]): LogRecord {
    try {
      return (this.#judge as RecordJudge).judge(record, seq, group);
    } catch (thrown) {
      const { kind, message } = toRondoError(thrown);
      const damaged =
        kind === "storage"
          ? "; unless a newer version wrote it, the journal is damaged: see `rondo journal check`"
          : "";
      throw new RondoError(
        kind,
        `session ${JSON.stringify(this.#session)}: record ${seq} (${record.type}) cannot be read: ${message}${damaged}`,
        { cause: thrown },
      );
    }
  }
}

/** The random number in a record makes it unique. */
const markOf = ({ seq, type, at, rand }: LogRecord): string => JSON.stringify([seq, type, at, rand]);

const isStart = (record: LogRecord): record is RecordOf<"run_started"> => record.type === "run_started";
