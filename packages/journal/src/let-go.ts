// The room of leases that this process has let go of, and that still stand in their files.
//
// A disk that is full keeps the release of a lease out of its file. Whoever makes room must not wait for the lease to run out,
// so what this process let go of counts as free, whatever the file says.

import { isGone, ownMark } from "./holder.ts";

const letGo = new Set<string>();

/** A lease as this process names it to itself. @param place the journal's own name, no other's */
export interface OwnLease {
  place: string;
  session: string;
  token: number;
}

const nameOf = ({ place, session, token }: OwnLease): string => JSON.stringify([place, session, token]);

/** Its holder, this process, is done with it, whatever its file says. */
export function giveUp(lease: OwnLease): void {
  letGo.add(nameOf(lease));
}

/** It was taken just now: a file of that name may have been another before. */
export function takeUp(lease: OwnLease): void {
  letGo.delete(nameOf(lease));
}

/** Whether nobody holds it any more: its process has ended, or is this one and is done with it. */
export function isFree(mark: string | null, lease: OwnLease): boolean {
  return isGone(mark) || (mark === ownMark() && letGo.has(nameOf(lease)));
}
