// The room of the lease: who may write a session, as a pure function of the requests and their times.
//
// It has no clock, process or file. A journal stores what `takeLease` returns together with its records, in one transaction
// (or under one lock), and calls `checkToken` before each append. Only the token makes it safe: it only grows, and only the
// newest may write. Time only decides when a silent holder may be replaced. A wrong clock makes a writer wait, or replaces a
// holder too early, but it never lets two write.

import { longestWait } from "../clock.ts";
import { invalidRequest, RondoError } from "../errors.ts";
import type { LeaseRequest } from "../journal.ts";

/** A session's lease as it is stored. It is kept after its release, because its token must never be used again. */
export interface LeaseState {
  token: number;
  /** The name of the holder; absent after it was released. */
  owner?: string;
  /** When it was taken or last renewed, in milliseconds since 1970. */
  at: number;
  ttlMs: number;
}

/**
 * Whether the session is held. A lease with a time in the future (the clock was set back) is held for at most its own
 * duration from now: otherwise nobody could write until the clock has caught up.
 * @param gone the holder is known to be dead
 */
export function isHeld(state: LeaseState | undefined, now: number, gone: boolean = false): boolean {
  if (state?.owner === undefined || gone) return false;
  return Math.abs(now - state.at) < state.ttlMs;
}

/**
 * The state after a lease was taken.
 * @param state undefined if there never was a lease. For a deleted session pass {@link afterDeleted} instead
 * @throws RondoError `conflict` if another writer holds it
 */
export function takeLease(
  session: string,
  state: LeaseState | undefined,
  request: LeaseRequest,
  now: number,
  gone: boolean = false,
): LeaseState {
  const { owner, ttlMs, takeOver = false } = request;
  if (!(ttlMs > 0 && ttlMs <= longestWait))
    throw invalidRequest(`a lease needs a time of 1 to 2^31 - 1 ms, not ${ttlMs}`);
  if (owner === "") throw invalidRequest("a lease needs the name of its owner");
  if (state !== undefined && !takeOver && isHeld(state, now, gone))
    throw heldBy(session, state, "wait for it");
  return { token: (state?.token ?? 0) + 1, owner, at: now, ttlMs };
}

/** The state of a lease that was not taken yet, in a journal where leases of deleted sessions had tokens up to `highest`. */
export const afterDeleted = (highest: number): LeaseState => ({ token: highest, at: 0, ttlMs: 0 });

/**
 * The state after its holder renewed it. That is also allowed after it expired, if no other writer took it.
 * @throws RondoError `conflict` if it is no longer the newest, or was released
 */
export function renewLease(
  session: string,
  state: LeaseState | undefined,
  token: number,
  now: number,
): LeaseState {
  checkToken(session, state, token, now);
  return { ...(state as LeaseState), at: now };
}

/** The state after `token` was released; unchanged if that is no longer the newest. */
export function releaseLease(state: LeaseState | undefined, token: number): LeaseState | undefined {
  if (state === undefined || state.token !== token || state.owner === undefined) return state;
  const { owner: _, ...rest } = state;
  return rest;
}

/**
 * Checks that a writer with this token, or with none, may append now.
 * @throws RondoError `conflict` if it may not
 */
export function checkToken(
  session: string,
  state: LeaseState | undefined,
  token: number | undefined,
  now: number,
  gone: boolean = false,
): void {
  if (token === undefined) {
    if (state !== undefined && isHeld(state, now, gone))
      // The holder continues to write, so what this writer knows of the session will be out of date.
      throw heldBy(session, state, "wait for it and open the session again");
    return;
  }
  if (state?.token === token && state.owner !== undefined) return;
  const released = state?.token === token;
  const by = released || state?.owner === undefined ? "" : ` by ${state.owner}`;
  throw new RondoError(
    "conflict",
    `session ${JSON.stringify(session)} is not this writer's any more: its lease (token ${token}) was ` +
      `${released ? "released" : state === undefined ? "deleted" : `taken over${by}`}; open the session again and go on from there`,
  );
}

/**
 * Checks that a session may be deleted now: not while it is held.
 * @throws RondoError `conflict` naming the holder
 */
export function checkUnheld(
  session: string,
  state: LeaseState | undefined,
  now: number,
  gone: boolean = false,
): void {
  if (state !== undefined && isHeld(state, now, gone))
    throw new RondoError(
      "conflict",
      `${heldText(session, state)}: nothing was deleted; wait for its run to end or abort it, and delete it then`,
    );
}

function heldBy(session: string, state: LeaseState, wait: string): RondoError {
  return new RondoError(
    "conflict",
    `${heldText(session, state)}: ${wait}, follow() it as a reader, or open it with takeOver to fence that writer off`,
  );
}

const heldText = (session: string, { owner, at, ttlMs }: LeaseState): string =>
  `session ${JSON.stringify(session)} is held by ${owner} until ${new Date(at + ttlMs).toISOString()} or longer`;
