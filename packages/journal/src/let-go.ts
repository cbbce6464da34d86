// The room of given-up leases: those that this process released, but that are still in their files.
//
// On a full disk the release of a lease cannot be written. Whoever makes room should not have to wait until the lease
// expires, so a lease that this process gave up counts as free, whatever the file says.

import { isGone, ownMark } from "./holder.ts";

const letGo = new Set<string>();

/** A lease as this process identifies it. @param place the journal's identity, unlike any other's in this process */
export interface OwnLease {
  place: string;
  session: string;
  token: number;
}

const nameOf = ({ place, session, token }: OwnLease): string => JSON.stringify([place, session, token]);

/** The holder, this process, is done with it, whatever its file says. */
export function giveUp(lease: OwnLease): void {
  letGo.add(nameOf(lease));
}

/** It was taken just now: clears an earlier release under the same name. */
export function takeUp(lease: OwnLease): void {
  letGo.delete(nameOf(lease));
}

/** Whether it is free: its process has ended, or is this one and gave it up. */
export function isFree(mark: string | null, lease: OwnLease): boolean {
  return isGone(mark) || (mark === ownMark() && letGo.has(nameOf(lease)));
}
