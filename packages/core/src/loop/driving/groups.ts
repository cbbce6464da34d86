// The room of groups: records on their way to the journal.
//
// What was made since the last flush is one group: all of it is kept, or none. Each group names the position it follows,
// and goes behind the one before, also where the journal takes its time. The first that is refused is the last: nothing
// that happens after it could be kept.

import { RondoError, toRondoError } from "../../errors.ts";
import type { Fact, LogRecord } from "../records.ts";
import type { Shell } from "./shell.ts";

export class Groups {
  readonly #journal: Shell["journal"];
  readonly #session: string;
  /** The group that has not gone yet. */
  waiting: LogRecord[] = [];
  /** How many records the journal has, or is being given. */
  #given: number;
  /** Set once the journal refused a group, or somebody else has the session. */
  failed: RondoError | undefined;
  #writing: Promise<void> | undefined;
  /** The last record that the journal has taken, since `startAt`. */
  kept: LogRecord | undefined;

  constructor(journal: Shell["journal"], session: string, given: number) {
    this.#journal = journal;
    this.#session = session;
    this.#given = given;
  }

  /** The journal has so many records, whoever wrote them. What waited is no part of them, and what failed is over. */
  startAt(given: number): void {
    this.#given = given;
    this.waiting = [];
    this.kept = undefined;
    this.failed = undefined;
    this.#writing = undefined;
  }

  /** The failure, for whoever wants more after it was told. */
  get refusal(): RondoError | undefined {
    const error = this.failed;
    // Whoever was not the only writer was told to open it again. A disk that has room again, or is free, helps as little.
    if (error === undefined || error.kind === "conflict") return error;
    const words = `session ${JSON.stringify(this.#session)} has failed, and takes nothing more until it is opened again`;
    return new RondoError(error.kind, `${words}: ${error.message}`, { cause: error });
  }

  /** What the journal does not have, as it was before it was stamped. */
  get unkept(): Fact[] {
    return this.waiting.map(({ seq: _seq, at: _at, rand: _rand, ...fact }) => fact as Fact);
  }

  /** Gives the journal what waits. Resolves when that is durable; undefined where it is already. */
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
      };
      if (written !== undefined) return Promise.resolve(written).then(took, refused);
      took();
      return undefined;
    } catch (thrown) {
      return refused(thrown);
    }
  }

  /** Writes behind whatever is being written: a journal that takes its time may not get a later group first. */
  flushInTurn(): void {
    const before = this.#writing;
    this.#writing = before === undefined ? this.flush() : before.then(() => this.flush());
    // Whoever waits for it hears of a failure; until then it is nobody's unhandled rejection.
    this.#writing?.catch(() => {});
  }

  /** What goes in turn. Undefined: nothing does. */
  get writing(): Promise<void> | undefined {
    return this.#writing;
  }

  /** Resolves when what goes in turn is durable. */
  async settled(): Promise<void> {
    const writing = this.#writing;
    try {
      await writing;
    } finally {
      if (this.#writing === writing) this.#writing = undefined;
    }
  }
}
