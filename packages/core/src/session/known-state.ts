// The room of a session's known state: the session as far as this process has read its journal.
//
// A session object is not notified of what others write. Before it acts, it compares the length and the last record, and
// reads on from where it stopped if others have written. The resulting state is made only of records that the journal has.

import { RondoError } from "../errors.ts";
import { readRecords } from "../journal/failure.ts";
import { whenThere } from "../journal/maybe-async.ts";
import { RecordReader } from "../journal/migrations.ts";
import { readBack } from "../journal/read-back.ts";
import { sentAt } from "../loop/driving/intents.ts";
import type { LogRecord } from "../loop/records.ts";
import { Prefix } from "../loop/request/prefix.ts";
import { emptyState, type State } from "../loop/state.ts";
import type { SessionParts } from "./parts.ts";

export class KnownState {
  /** Follows the requests of the session, whoever sent them. */
  readonly prefix: Prefix = new Prefix();
  readonly #parts: SessionParts;
  readonly #reader: RecordReader;
  #state = emptyState;
  /** The last record that was read. */
  #last: LogRecord | undefined;
  #reading: Promise<State> | undefined;
  #failed: RondoError | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#reader = new RecordReader(parts.journal, parts.id);
  }

  /** How many records were read. */
  get seq(): number {
    return this.#state.seq;
  }

  /**
   * The session including records written since the last time; a promise only if the journal returns one.
   * @param written the last record that was written here, if one was: it is among those
   * @throws RondoError `storage` if records are missing, or do not fold
   */
  readOn(written: LogRecord | undefined): State | Promise<State> {
    if (this.#failed !== undefined) throw this.#failed;
    // Two reads at the same time would each fold the new records.
    if (this.#reading !== undefined) return this.#reading;
    const state = whenThere(this.#reader.readNow(), (records) => this.#fold(records, written));
    if (!(state instanceof Promise)) return state;
    this.#reading = state.finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /**
   * Whether it still ends with the last known record. A new session under the same id may be as long.
   * @param written the last record that was written here, if one was
   */
  endsAs(written: LogRecord | undefined): boolean | Promise<boolean> {
    const last = (written?.seq ?? -1) > (this.#last?.seq ?? -1) ? written : this.#last;
    if (last === undefined) return true;
    const { journal, id } = this.#parts;
    return whenThere(readRecords(journal, id, last.seq), ([there]) => there?.rand === last.rand);
  }

  #fold(records: readonly LogRecord[], written: LogRecord | undefined): State {
    const { id, resolved } = this.#parts;
    if (written !== undefined && written.seq >= this.#state.seq) {
      const there = records[written.seq - this.#state.seq];
      // The random number shows whether it is the same record.
      if (there?.rand !== written.rand) {
        this.#failed = new RondoError(
          "storage",
          `session ${JSON.stringify(id)} was deleted, moved or replaced since it was written here: its record ${written.seq} is ${there === undefined ? "gone" : "another"}; put it back, or open it again`,
        );
        throw this.#failed;
      }
    }
    this.#last = records.at(-1) ?? this.#last;
    const { rules } = resolved;
    const at = records.findLastIndex(({ type }) => type === "model_started");
    const since = Math.max(0, at);
    const asked = readBack(id, records.slice(0, since), rules, this.#state);
    this.#state = readBack(id, records.slice(since), rules, asked);
    if (at >= 0) this.prefix.follow(() => sentAt(asked, rules));
    return this.#state;
  }
}
