// The room of formats: records of an older format become today's when they are read, those of a newer are refused.
//
// A journal is never rewritten for it: what was written stays what it was, and each step from one version to the next
// is one pure function of one record. The format of a record is that of the run it stands in.

import { invalidRequest, RondoError, toRondoError } from "../errors.ts";
import type { Journal } from "../journal.ts";
import { formatVersion, type LogRecord, type RecordOf } from "../loop/records.ts";
import { readRecords } from "./failure.ts";
import { whenThere } from "./maybe-async.ts";
import { isKnownType } from "./record-types.ts";

/** How a record of one format becomes one of the next. By the format it comes from; formats with no entry changed nothing. */
export type Migrations = { readonly [format: number]: (record: LogRecord) => LogRecord };

/** Version 1 is the first. */
const migrations: Migrations = {};

/** Judges a session's records one after the other, wherever they come from: each is one that this version can fold, or is refused. */
export class RecordJudge {
  readonly #steps: Migrations;
  readonly #today: number;
  /** Those there are steps from, in order: what stands in a damaged record may be any number, and is none to count up from. */
  readonly #versions: readonly number[];
  #format: number | undefined;
  /** The last group in which a run was looked for: it is long where words were said before the first. */
  #searched: readonly LogRecord[] | undefined;

  /**
   * @param format of the run that stands before the first record. Default: none does
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
   * @param seq where it stands
   * @param group it, and those that stand about it
   * @throws RondoError saying what is wrong with it, not which it is: `invalid_request` for a newer format, `storage` for
   *   one that stands in another's place, is of a type that is not known, or of a format that is none
   */
  judge(record: LogRecord, seq: number, group: readonly LogRecord[]): LogRecord {
    if (record.seq !== seq)
      throw new RondoError(
        "storage",
        `its sequence number is ${record.seq}, and it stands at ${seq}: needed are all records of one session, in order`,
      );
    if (record.type === "run_started") this.#format = record.format;
    // What stands before the first run was written with it, or just before.
    else if (this.#format === undefined && this.#searched !== group) {
      this.#searched = group;
      this.#format = group.find(isStart)?.format;
    }
    const format = this.#format ?? this.#today;
    if (!Number.isSafeInteger(format))
      throw new RondoError("storage", `its journal format is ${JSON.stringify(format)}, and no such number`);
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

/** Reads a session on and on, each time from where it stopped, and gives its records in today's format. */
export class RecordReader {
  readonly #journal: Journal;
  readonly #session: string;
  readonly #steps: Migrations;
  readonly #format: number;
  #at: number;
  /** The last record that was read, by what tells it from another in its place. */
  #last: string | undefined;
  #judge: RecordJudge | undefined;

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
   * What has come since the last time. It reads from the record that came last, to see that it still stands there: else who
   * follows a session that was deleted would wait for ever, and of one that was replaced be told its second half.
   * @throws RondoError `invalid_request` for records of a newer format; `storage` where one is missing or is none that is known, or the journal fails
   */
  async read(): Promise<LogRecord[]> {
    return this.readNow();
  }

  /** The same, at once where the journal gives them at once. */
  readNow(): LogRecord[] | Promise<LogRecord[]> {
    if (this.#judge !== undefined) return whenThere(this.#readOn(), (records) => this.#take(records));
    return whenThere(this.#before(), (before) => {
      const last = before.at(-1);
      // Who waits for a record that is far from being written yet has nothing to hold it against.
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

  /** What stands before the first record that is wanted: the format that a run in the middle of the session was written in, too. */
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

/** The chance in a record is its own. */
const markOf = ({ seq, type, at, rand }: LogRecord): string => JSON.stringify([seq, type, at, rand]);

const isStart = (record: LogRecord): record is RecordOf<"run_started"> => record.type === "run_started";
