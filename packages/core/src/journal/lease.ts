// The room of the lease: who may write a session, as a pure function of what was said and when.
//
// No clock, no process, no file: a journal stores what `takeLease` returns together with its records, in one
// transaction (or under one lock), and asks `checkToken` before each append. What makes it safe is the token alone: it
// only grows, and only the newest writes. Time only decides when a silent holder may be replaced; a clock that is set
// wrong makes somebody wait or replaces somebody too early, and never lets two write.

import { longestWait } from "../clock.ts";
import { invalidRequest, RondoError } from "../errors.ts";
import type { LeaseRequest } from "../journal.ts";

/** A session's lease as it is stored. It stays when it is released: its token must never be given again. */
export interface LeaseState {
  token: number;
  /** Who holds it, in words; absent once it was released. */
  owner?: string;
  /** When it was taken or last renewed, in milliseconds since 1970. */
  at: number;
  ttlMs: number;
}

/**
 * Whether somebody holds the session. A lease taken in the future (the clock was set back) holds no longer than its
 * own time from now, or nobody could write until the clock has caught up.
 * @param gone the holder is known to be dead
 */
export function isHeld(state: LeaseState | undefined, now: number, gone: boolean = false): boolean {
  if (state?.owner === undefined || gone) return false;
  return Math.abs(now - state.at) < state.ttlMs;
}

/**
 * The state after a lease was taken.
 * @param state undefined where none was ever taken. After a session was deleted it must not be: then {@link afterDeleted}
 * @throws RondoError `conflict` when another holds it
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

/** The state of a lease that nobody took yet, in a journal in which leases of deleted sessions had tokens up to one. */
export const afterDeleted = (highest: number): LeaseState => ({ token: highest, at: 0, ttlMs: 0 });

/**
 * The state after its holder renewed it, which it may also when its time has run out and nobody else came.
 * @throws RondoError `conflict` when it is no longer the newest, or was released
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

/** The state after `token` was let go; unchanged when that is no longer the newest. */
export function releaseLease(state: LeaseState | undefined, token: number): LeaseState | undefined {
  if (state === undefined || state.token !== token || state.owner === undefined) return state;
  const { owner: _, ...rest } = state;
  return rest;
}

/**
 * Whether a writer with this token, or with none, may append now.
 * @throws RondoError `conflict` when it may not
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
      // Whoever holds it writes on: what this writer knows of the session will not be so when it waits.
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
 * Whether a session may be deleted now: while anybody holds it, it may not.
 * @throws RondoError `conflict` naming who holds it
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
