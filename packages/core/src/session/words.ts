// The room of words: what is said to a session while nobody drives it here, on its way to the journal.
//
// Others may have written to it since it was read. The journal tells when a word is refused for that; then what is new is read
// and the word is written behind it. What is said meanwhile waits, and goes with it.

import { type RondoError, toRondoError } from "../errors.ts";
import type { Driver } from "../loop/drive.ts";
import { isOutcome } from "../loop/driving/timely.ts";
import type { Fact } from "../loop/records.ts";

/** Goes on from the session as it was read, which may be as it was known. */
export type GoOn = () => void;

/** How often a word is said again where others are faster every time. */
const mostTries = 3;

export class Words {
  readonly #driver: Driver;
  readonly #readNews: () => GoOn | Promise<GoOn>;
  /** On their way to the journal. */
  readonly #said = new Set<Fact>();
  /** They wait until what others wrote is read. Undefined: nothing is being read for them. */
  #waiting: Fact[] | undefined;
  /** Resolves when they are written. */
  #reading: Promise<void> | undefined;
  #unkept: RondoError | undefined;
  /** What was told last of it. */
  #taken: RondoError | undefined;

  /** @param readNews reads what others have written since, where they have */
  constructor(driver: Driver, readNews: () => GoOn | Promise<GoOn>) {
    this.#driver = driver;
    this.#readNews = readNews;
  }

  get waiting(): readonly Fact[] {
    return this.#waiting ?? [];
  }

  get areUnderWay(): boolean {
    return this.#driver.writing !== undefined || this.#reading !== undefined;
  }

  /** Writes a word, behind what others have written meanwhile. @throws RondoError where the journal refuses it at once */
  say(fact: Fact): void {
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
    this.#said.add(fact);
    const refused = (thrown: unknown): void => {
      const all = [...this.#said];
      this.#said.clear();
      if (isConflict(thrown) && all.length > 0) void this.#writeBehind(all);
    };
    writing.then(() => this.#said.delete(fact), refused);
  }

  /** Reads what others have written, if they have; a promise only where that takes a while. */
  lookAgain(): void | Promise<void> {
    return this.areUnderWay ? this.#writeBehind([]) : this.#readOn([]);
  }

  /** Resolves when all that was said is in the journal. @throws RondoError where it could not be kept */
  async written(): Promise<void> {
    await this.#driver.settled().catch((thrown) => {
      // It is read on, and written behind that.
      if (this.#reading === undefined) throw thrown;
    });
    await this.#reading?.catch(() => {});
    const unkept = this.takeUnkept();
    if (unkept !== undefined) throw unkept;
  }

  /** Something that was said could not be kept, and nobody heard of it yet. */
  unkept(error: RondoError): void {
    this.#unkept = error;
  }

  /** Why something could not be kept, for whoever speaks next. */
  takeUnkept(): RondoError | undefined {
    const error = this.#unkept;
    this.#unkept = undefined;
    this.#taken = error;
    return error;
  }

  /** Nobody was told of this after all: where it is why something could not be kept, whoever speaks next is. */
  untold(thrown: unknown): void {
    if (thrown !== undefined && thrown === this.#taken) this.#unkept = this.#taken;
  }

  /** Reads what is new, at once where the journal gives it at once; else words are written behind it. */
  #readOn(words: readonly Fact[]): void | Promise<void> {
    const news = this.#readNews();
    if (news instanceof Promise) return this.#writeBehind(words, news);
    news();
  }

  #writeBehind(words: readonly Fact[], news?: Promise<GoOn>): Promise<void> {
    if (this.#waiting !== undefined) this.#waiting.push(...words);
    else {
      this.#waiting = [...words];
      this.#reading = this.#readAndWrite(news).finally(() => {
        this.#reading = undefined;
      });
      // Who waits for it hears of a failure, or whoever speaks next.
      this.#reading.catch(() => {});
    }
    return this.#reading as Promise<void>;
  }

  async #readAndWrite(reading: Promise<GoOn> | undefined): Promise<void> {
    let news = reading;
    // Where it is not waited for, something else has failed first.
    news?.catch(() => {});
    for (let left = mostTries; this.#waiting !== undefined; ) {
      try {
        await this.#driver.settled().catch((thrown) => {
          if (!isConflict(thrown)) throw thrown;
        });
        const asked = news ?? this.#readNews();
        news = undefined;
        const goOn = await asked;
        goOn();
        // One by one: of two that go together, the first may be kept and the second refused.
        for (const waiting = this.#waiting; waiting[0] !== undefined; waiting.shift()) {
          this.#driver.post(waiting[0]);
          await this.#driver.settled();
        }
        this.#waiting = undefined;
      } catch (thrown) {
        left -= 1;
        if (isConflict(thrown) && left > 0) continue;
        // What comes late is nobody's loss.
        if (!this.waiting.every(isOutcome)) this.#unkept = toRondoError(thrown);
        this.#waiting = undefined;
        throw thrown;
      }
    }
  }
}

const isConflict = (thrown: unknown): boolean => toRondoError(thrown).kind === "conflict";
