// The room of leases in files: taken, renewed and released under the journal's own lock.
//
// A lease whose holder is known to be gone, or that this process gave up, is free, whatever the file says.

import {
  afterDeleted,
  checkToken,
  checkUnheld,
  type Lease,
  type LeaseRequest,
  type LeaseState,
  releaseLease,
  renewLease,
  takeLease,
} from "@rondo/core";
import { holderName, ownMark } from "./holder.ts";
import { giveUp, isFree, takeUp } from "./let-go.ts";

/** A lease as stored in its file: its state, and the mark of its process. */
export interface StoredLease extends LeaseState {
  process: string | null;
}

/** Where a session's lease is stored. */
export interface LeasePlace {
  /** Runs `act` while nobody else can change it. Errors get a message that names the file. */
  locked<T>(doing: string, act: () => T): T;
  held(): StoredLease | undefined;
  /** The highest token that any deleted session had; 0 when there was none. */
  highestGone(): number;
  store(lease: StoredLease): void;
  isClosed(): boolean;
}

export class FileLeases {
  readonly #place: string;
  readonly #now: () => number;

  /** @param place the journal's identity, unlike any other's in this process */
  constructor(place: string, now: () => number) {
    this.#place = place;
    this.#now = now;
  }

  /** @throws RondoError `conflict` when a writer with this token, or with none, may not append now */
  check(session: string, held: StoredLease | undefined, token: number | undefined): void {
    // Naming the holder and checking that it lives cost more than the append: done only when the answer may be no.
    if (held === undefined ? token !== undefined : token !== held.token || held.owner === undefined)
      checkToken(session, inWords(held), token, this.#now(), this.#isFree(session, held));
  }

  /** @throws RondoError `conflict` when somebody holds the session that is to be deleted */
  checkUnheld(session: string, held: StoredLease | undefined): void {
    checkUnheld(session, inWords(held), this.#now(), this.#isFree(session, held));
  }

  take(session: string, request: LeaseRequest, place: LeasePlace): Lease {
    const { locked, held, store, isClosed } = place;
    const change = (
      doing: string,
      next: (known: StoredLease | undefined) => LeaseState | undefined,
    ): number =>
      locked(doing, () => {
        const state = next(held());
        if (state === undefined) return 0;
        // A renewal comes from the holder itself; the text for others is built when it is needed.
        const { owner, ...rest } = state;
        store({ ...rest, ...(owner === undefined ? {} : { owner: request.owner }), process: ownMark() });
        return state.token;
      });
    const token = change("take a lease in", (known) =>
      takeLease(
        session,
        inWords(known) ?? afterDeleted(place.highestGone()),
        request,
        this.#now(),
        this.#isFree(session, known),
      ),
    );
    const own = { place: this.#place, session, token };
    takeUp(own);
    return {
      token,
      renew: () =>
        void change("renew a lease in", (known) => renewLease(session, inWords(known), token, this.#now())),
      release: () => {
        giveUp(own);
        if (isClosed()) return;
        change("release a lease in", (known) =>
          known?.token === token ? releaseLease(known, token) : undefined,
        );
        takeUp(own);
      },
    };
  }

  #isFree(session: string, held: StoredLease | undefined): boolean {
    return held !== undefined && isFree(held.process, { place: this.#place, session, token: held.token });
  }
}

/** The lease as core knows it, its holder described in words. */
function inWords(held: StoredLease | undefined): LeaseState | undefined {
  if (held?.owner === undefined) return held;
  return { ...held, owner: holderName(held.owner, held.process) };
}
