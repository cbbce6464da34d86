// The room of the writer: one session's way to its journal, with a lease for as long as the session is driven.
//
// A single group needs no lease: comparing and appending are one. What takes many groups, and does things between them,
// does: a second process is told before it has done anything, and a first one that was thought dead and wakes up again
// can write nothing any more. Leases live in real time, whatever clock the run goes by.

import { isPromise } from "../checks.ts";
import { systemClock } from "../clock.ts";
import { type RondoError, toRondoError } from "../errors.ts";
import type { Journal, Lease, LeaseRequest } from "../journal.ts";
import type { LogRecord } from "../loop/records.ts";
import { asked } from "./failure.ts";

/** How an agent holds the sessions it drives. */
export interface LeaseOptions {
  /** Who it is, for those who are kept waiting. Default: `an agent`. */
  owner?: string;
  /** How long a session stays its own when it falls silent, in milliseconds, 100 at least. Renewed after a third of it. Default: 15,000. */
  ttlMs?: number;
}

export class Writer {
  readonly #journal: Journal;
  readonly #session: string;
  readonly #request: LeaseRequest;
  #lease: Lease | undefined;
  /** The lease is on its way, or on its way back: a group that went now would come from a stranger. */
  #moving: Promise<void> | undefined;
  #stopRenewing: () => void = () => {};

  constructor(journal: Journal, session: string, { owner = "an agent", ttlMs = 15_000 }: LeaseOptions = {}) {
    this.#journal = journal;
    this.#session = session;
    this.#request = { owner, ttlMs };
  }

  append(session: string, expectedSeq: number, records: readonly LogRecord[]): void | Promise<void> {
    return this.#moving === undefined
      ? this.#append(session, expectedSeq, records)
      : this.#moving.then(() => this.append(session, expectedSeq, records));
  }

  #append(session: string, expectedSeq: number, records: readonly LogRecord[]): void | Promise<void> {
    const token = this.#lease?.token;
    return asked("append", session, () =>
      token === undefined
        ? this.#journal.append(session, expectedSeq, records)
        : this.#journal.append(session, expectedSeq, records, token),
    );
  }

  /**
   * Takes the lease, where the journal has any. A promise only where the journal gives one.
   * @param lost called when another has taken it
   * @throws RondoError `conflict` naming who holds it
   */
  take(takeOver: boolean, lost: (error: RondoError) => void): undefined | Promise<void> {
    const taken = asked("lease", this.#session, () =>
      this.#journal.lease?.(this.#session, { ...this.#request, takeOver }),
    );
    if (taken === undefined) return undefined;
    const got = (lease: Lease): void => {
      this.#lease = lease;
      this.#renewLater(lease, lost);
    };
    if (taken instanceof Promise) return this.#move(taken.then(got));
    return void got(taken);
  }

  /** Whether the session has so many records, and whoever writes here may add to them. */
  isAt(length: number): boolean | Promise<boolean> {
    const otherwise = (thrown: unknown): false => {
      if (toRondoError(thrown).kind !== "conflict") throw thrown;
      return false;
    };
    try {
      // An empty group compares and writes nothing.
      const compared = this.#append(this.#session, length, []);
      return isPromise(compared) ? Promise.resolve(compared).then(() => true, otherwise) : true;
    } catch (thrown) {
      return otherwise(thrown);
    }
  }

  /** Lets the lease go. What goes wrong with that is nobody's loss: it runs out by itself. */
  release(): undefined | Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    this.#stopRenewing();
    try {
      const released = lease?.release();
      return isPromise(released) ? this.#move(Promise.resolve(released).catch(() => {})) : undefined;
    } catch {
      return undefined;
    }
  }

  #move(moving: Promise<void>): Promise<void> {
    const there = (): void => {
      if (this.#moving === settled) this.#moving = undefined;
    };
    const settled: Promise<void> = moving.then(there, there);
    this.#moving = settled;
    return moving;
  }

  #renewLater(lease: Lease, lost: (error: RondoError) => void): void {
    this.#stopRenewing = systemClock.after(this.#request.ttlMs / 3, () => {
      const failed = (thrown: unknown): void => {
        if (this.#lease !== lease) return;
        const error = toRondoError(thrown);
        // Anything else than a conflict may pass: there is time for two more tries, and an append will tell.
        if (error.kind === "conflict") lost(error);
        else this.#renewLater(lease, lost);
      };
      const again = (): void => {
        if (this.#lease === lease) this.#renewLater(lease, lost);
      };
      try {
        const renewed = lease.renew();
        if (isPromise(renewed)) Promise.resolve(renewed).then(again, failed);
        else again();
      } catch (thrown) {
        failed(thrown);
      }
    });
  }
}
