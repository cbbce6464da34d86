// The room of groups: records on their way to the journal.
//
// The records since the last flush are one group: all of them are stored, or none. Each group names the position it
// follows, and is written after the previous one, even if the journal is slow. Once a group is refused no other is
// written: whatever happens after it cannot be stored.

import { RondoError, toRondoError } from "../../errors.ts";
import type { Fact, LogRecord } from "../records.ts";
import type { Shell } from "./shell.ts";

export class Groups {
  readonly #journal: Shell["journal"];
  readonly #session: string;
  /** The group that has not been written yet. */
  waiting: LogRecord[] = [];
  /** How many records the journal has, including those being written. */
  #given: number;
  /** Set once the journal refused a group, or another writer has the session. */
  failed: RondoError | undefined;
  #writing: Promise<void> | undefined;
  /** The last record that the journal has acknowledged, since `startAt`. */
  kept: LogRecord | undefined;
  /** Called when the journal has acknowledged a group. */
  readonly #watchers: (() => void)[] = [];

  constructor(journal: Shell["journal"], session: string, given: number) {
    this.#journal = journal;
    this.#session = session;
    this.#given = given;
  }

  /** Starts again at this position, the number of records in the journal. The waiting group is dropped, and a failure is forgotten. */
  startAt(given: number): void {
    this.#given = given;
    this.waiting = [];
    this.kept = undefined;
    this.failed = undefined;
    this.#writing = undefined;
  }

  /** The failure, for callers after the first that was told. */
  get refusal(): RondoError | undefined {
    const error = this.failed;
    // A `conflict` already says to open the session again. That is needed as well once a full disk has room again.
    if (error === undefined || error.kind === "conflict") return error;
    const words = `session ${JSON.stringify(this.#session)} has failed, and takes nothing more until it is opened again`;
    return new RondoError(error.kind, `${words}: ${error.message}`, { cause: error });
  }

  /** The facts that the journal does not have, without their stamps. */
  get unkept(): Fact[] {
    return this.waiting.map(({ seq: _seq, at: _at, rand: _rand, ...fact }) => fact as Fact);
  }

  /** Writes the waiting group. Resolves when it is durable; returns undefined if it is already. */
  flush(): Promise<void> | undefined {
    if (this.failed !== undefined) throw this.failed;
    if (this.waiting.length === 0) return undefined;
    const records = this.waiting;
    this.waiting = [];
    const expected = this.#given;
    this.#given += records.length;
    const refused = (thrown: unknown): never => {
      this.failed = toRondoError(thrown);
      this.waiting = [...records, ...this.waiting];
      throw this.failed;
    };
    try {
      const written = this.#journal.append(this.#session, expected, records);
      const took = (): void => {
        this.kept = records.at(-1);
        for (const watch of this.#watchers.splice(0)) watch();
      };
      if (written !== undefined) return Promise.resolve(written).then(took, refused);
      took();
      return undefined;
    } catch (thrown) {
      return refused(thrown);
    }
  }

  /** Resolves when the journal next acknowledges a group at a moment when something is the case. */
  acknowledged(is: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const watch = (): void => {
        if (is()) resolve();
        else this.#watchers.push(watch);
      };
      this.#watchers.push(watch);
    });
  }

  /** Writes after whatever is being written: a slow journal must not get a later group first. */
  flushInTurn(): void {
    const before = this.#writing;
    this.#writing = before === undefined ? this.flush() : before.then(() => this.flush());
    // A caller that waits for it gets the failure; until then it must not be an unhandled rejection.
    this.#writing?.catch(() => {});
  }

  /** The write in progress; undefined if there is none. */
  get writing(): Promise<void> | undefined {
    return this.#writing;
  }

  /** Resolves when the write under way is durable. */
  async settled(): Promise<void> {
    const writing = this.#writing;
    try {
      await writing;
    } finally {
      if (this.#writing === writing) this.#writing = undefined;
    }
  }
}
