// The room of known sessions: a cache of what is known of sessions' files, so that continuing one reads only what is new.
//
// A process may see a million sessions in a folder, few of them at a time. The least recently used are forgotten, and
// their files read again when somebody comes back.

import { SessionFiles } from "./session.ts";

export class KnownSessions {
  readonly #folder: string;
  readonly #most: number;
  /** Least recently used first. */
  readonly #sessions = new Map<string, SessionFiles>();

  /** @param most how many are kept at most */
  constructor(folder: string, most: number = 10_000) {
    this.#folder = folder;
    this.#most = most;
  }

  of(session: string): SessionFiles {
    const known = this.#sessions.get(session) ?? new SessionFiles(this.#folder, session);
    this.#sessions.delete(session);
    this.#sessions.set(session, known);
    if (this.#sessions.size > this.#most)
      for (const oldest of this.#sessions.keys()) {
        this.#sessions.delete(oldest);
        break;
      }
    return known;
  }
}
