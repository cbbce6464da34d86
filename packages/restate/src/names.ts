// The room of names: names of services and handlers, for worker and client.
//
// A namespace is one set of services with its sessions. Readers of its sessions need not know whose agents they are;
// two workers with different agents on one server each take a namespace of their own.

import { RondoError } from "@rondo/core";

/** Default prefix of service names. */
export const defaultNamespace = "rondo";

export interface Services {
  /** A virtual object per session: its records, and its driver. */
  session: string;
  /** A virtual object per session: messages to it. */
  inbox: string;
  /** A few virtual objects with the list of all sessions. */
  index: string;
}

/** @throws RondoError `invalid_request` for a namespace that is not valid in service names */
export function servicesOf(namespace: string = defaultNamespace): Services {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(namespace))
    throw new RondoError(
      "invalid_request",
      `${JSON.stringify(namespace)} cannot be a namespace: it must be 1 to 64 letters, digits, _ or -, a letter first`,
    );
  return {
    session: `${namespace}_session`,
    inbox: `${namespace}_inbox`,
    index: `${namespace}_index`,
  };
}

/** @throws RondoError `invalid_request` for an invalid agent name */
export function checkAgentName(name: string, who: string): void {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw new RondoError(
      "invalid_request",
      `${who}: ${JSON.stringify(name)} cannot name an agent: it must be 1 to 64 letters, digits, _ or -`,
    );
}

/** How many objects share the list of sessions, so that new sessions need not queue behind each other. */
export const indexShards = 8;

/** The shard of a session: the same in every process. */
export function shardOf(session: string): string {
  let hash = 0;
  for (let at = 0; at < session.length; at += 1) hash = (Math.imul(hash, 31) + session.charCodeAt(at)) | 0;
  return String(Math.abs(hash) % indexShards);
}
