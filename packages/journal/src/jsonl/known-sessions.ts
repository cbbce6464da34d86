// The room of known sessions: those whose files were looked into, so that going on with one costs what is new.
//
// A folder may see a million sessions in the life of a process, few of them at a time. What is known of those that nobody
// asked for longest is forgotten: whoever comes back to one has its files read once more.

import { SessionFiles } from "./session.ts";

export class KnownSessions {
  readonly #folder: string;
  readonly #most: number;
  /** In the order in which they were asked for last. */
  readonly #sessions = new Map<string, SessionFiles>();

  /** @param most more than these are not kept */
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
