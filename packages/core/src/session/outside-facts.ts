// The room of facts from outside: messages, approvals and grants that arrive while the session is not driven here, on
// their way to the journal.
//
// Others may have written since the session was read. Then the journal refuses the fact, the new records are read, and the
// fact is written after them. Facts that arrive meanwhile wait, and are written with it.

import { type RondoError, toRondoError } from "../errors.ts";
import type { Driver } from "../loop/drive.ts";
import { isOutcome } from "../loop/driving/late-results.ts";
import type { Fact } from "../loop/records.ts";

/** Continues from the session as it was read, which may be unchanged. */
export type Adopt = () => void;

/** How often writing a fact is retried if other writers are faster every time. */
const mostTries = 3;

export class OutsideFacts {
  readonly #driver: Driver;
  readonly #readNews: () => Adopt | Promise<Adopt>;
  /** On their way to the journal. */
  readonly #underWay = new Set<Fact>();
  /** Facts that wait until the records of others are read. Undefined: nothing is being read. */
  #waiting: Fact[] | undefined;
  /** Resolves when they are written. */
  #reading: Promise<void> | undefined;
  /** Why a fact could not be stored, if no caller got that error yet. */
  #failure: RondoError | undefined;
  /** The last such error that a caller got. */
  #lastTaken: RondoError | undefined;

  /** @param readNews reads what others have written since, if they have */
  constructor(driver: Driver, readNews: () => Adopt | Promise<Adopt>) {
    this.#driver = driver;
    this.#readNews = readNews;
  }

  get waiting(): readonly Fact[] {
    return this.#waiting ?? [];
  }

  get areUnderWay(): boolean {
    return this.#driver.writing !== undefined || this.#reading !== undefined;
  }

  /** Writes a fact, after what others have written meanwhile. @throws RondoError if the journal refuses it at once */
  write(fact: Fact): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(fact);
      return;
    }
    try {
      this.#driver.post(fact);
    } catch (thrown) {
      if (!isConflict(thrown)) throw thrown;
      if (this.#readOn([fact]) !== undefined) return;
      this.#driver.post(fact);
    }
    const { writing } = this.#driver;
    if (writing === undefined) return;
    this.#underWay.add(fact);
    const refused = (thrown: unknown): void => {
      const all = [...this.#underWay];
      this.#underWay.clear();
      if (isConflict(thrown) && all.length > 0) void this.#writeBehind(all);
    };
    writing.then(() => this.#underWay.delete(fact), refused);
  }

  /** Reads what others have written, if they have; a promise only if the journal gives one. */
  lookAgain(): void | Promise<void> {
    return this.areUnderWay ? this.#writeBehind([]) : this.#readOn([]);
  }

  /** The last error that a caller got about a fact that could not be stored. Undefined: none yet. */
  get lastTaken(): RondoError | undefined {
    return this.#lastTaken;
  }

  /**
   * Resolves when all facts are in the journal.
   * @param since {@link lastTaken}, as it was when the caller began to wait: an error that others got since then is thrown to it, too
   * @throws RondoError if one could not be stored
   */
  async written(since: RondoError | undefined = this.#lastTaken): Promise<void> {
    await this.#driver.settled().catch((thrown) => {
      // The new records are read, and the fact is written after them.
      if (this.#reading === undefined) throw thrown;
    });
    await this.#reading?.catch(() => {});
    const failure = this.takeFailure() ?? (this.#lastTaken === since ? undefined : this.#lastTaken);
    if (failure !== undefined) throw failure;
  }

  /** Remembers that a fact could not be stored, and that no caller got the error yet. */
  keepFailure(error: RondoError): void {
    this.#failure = error;
  }

  /** Why a fact could not be stored, for the next caller. */
  takeFailure(): RondoError | undefined {
    const error = this.#failure;
    this.#failure = undefined;
    this.#lastTaken = error ?? this.#lastTaken;
    return error;
  }

  /** No caller got this error after all: if it is why a fact could not be stored, the next caller gets it. */
  giveBack(thrown: unknown): void {
    if (thrown !== undefined && thrown === this.#lastTaken) this.#failure = this.#lastTaken;
  }

  /** Reads the new records, synchronously if the journal can; otherwise facts wait for that and are written after them. */
  #readOn(facts: readonly Fact[]): void | Promise<void> {
    const news = this.#readNews();
    if (news instanceof Promise) return this.#writeBehind(facts, news);
    news();
  }

  #writeBehind(facts: readonly Fact[], news?: Promise<Adopt>): Promise<void> {
    if (this.#waiting !== undefined) this.#waiting.push(...facts);
    else {
      this.#waiting = [...facts];
      this.#reading = this.#readAndWrite(news).finally(() => {
        this.#reading = undefined;
      });
      // A caller that waits for it gets the failure, or else the next caller.
      this.#reading.catch(() => {});
    }
    return this.#reading as Promise<void>;
  }

  async #readAndWrite(reading: Promise<Adopt> | undefined): Promise<void> {
    let news = reading;
    // If nothing waits for it, something else has failed before.
    news?.catch(() => {});
    for (let left = mostTries; this.#waiting !== undefined; ) {
      try {
        await this.#driver.settled().catch((thrown) => {
          if (!isConflict(thrown)) throw thrown;
        });
        const asked = news ?? this.#readNews();
        news = undefined;
        const adopt = await asked;
        adopt();
        // One by one, because of two the first may be accepted and the second refused.
        for (const waiting = this.#waiting; waiting[0] !== undefined; waiting.shift()) {
          this.#driver.post(waiting[0]);
          await this.#driver.settled();
        }
        this.#waiting = undefined;
      } catch (thrown) {
        left -= 1;
        if (isConflict(thrown) && left > 0) continue;
        // A late result may be dropped.
        if (!this.waiting.every(isOutcome)) this.keepFailure(toRondoError(thrown));
        this.#waiting = undefined;
        throw thrown;
      }
    }
  }
}

const isConflict = (thrown: unknown): boolean => toRondoError(thrown).kind === "conflict";
