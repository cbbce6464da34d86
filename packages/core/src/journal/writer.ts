// The room of the writer: how one session is written to its journal, with a lease while it is driven.
//
// A single group needs no lease, because comparing and appending are one operation. A driver that writes many groups and
// acts in between needs one: then a second process is refused before it has done anything, and a first process that was
// thought dead and wakes up can no longer write. Leases use real time, whatever clock the run uses.

import { isPromise } from "../checks.ts";
import { systemClock } from "../clock.ts";
import { type RondoError, toRondoError } from "../errors.ts";
import type { Journal, Lease, LeaseRequest } from "../journal.ts";
import type { LogRecord } from "../loop/records.ts";
import { asked } from "./failure.ts";

/** How an agent holds the sessions that it drives. */
export interface LeaseOptions {
  /** A name for the holder, shown to those who have to wait. Default: `an agent`. */
  owner?: string;
  /**
   * How long a session stays held without a renewal, in milliseconds, at least 100. It is renewed after a third of that.
   * Default: 15,000.
   */
  ttlMs?: number;
}

export class Writer {
  readonly #journal: Journal;
  readonly #session: string;
  readonly #request: LeaseRequest;
  #lease: Lease | undefined;
  /** The lease is being taken or released: a group that is written now would have no valid token. */
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
   * Takes the lease, if the journal has leases. A promise only if the journal returns one.
   * @param lost is called if another writer has taken it
   * @throws RondoError `conflict` naming the holder
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

  /** Whether the session has exactly this many records, and this writer may append. */
  isAt(length: number): boolean | Promise<boolean> {
    const otherwise = (thrown: unknown): false => {
      if (toRondoError(thrown).kind !== "conflict") throw thrown;
      return false;
    };
    try {
      // An empty group is only compared; nothing is written.
      const compared = this.#append(this.#session, length, []);
      return isPromise(compared) ? Promise.resolve(compared).then(() => true, otherwise) : true;
    } catch (thrown) {
      return otherwise(thrown);
    }
  }

  /** Releases the lease. A failure does no harm: the lease expires by itself. */
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
        // Any error but a conflict may pass: there is time for two more attempts, and the next append shows whether it is
        // lost.
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
