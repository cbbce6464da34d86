// The room of the journal in memory.
//
// Records never change after they were appended, so references are kept and nothing is copied. It lives as long as its
// object.

import { callable, checkGiven, flag, membersOf } from "../checks.ts";
import type { Journal, Lease, LeaseRequest, SessionInfo } from "../journal.ts";
import type { LogRecord } from "../loop/records.ts";
import { type BlobStore, memoryBlobs } from "./blobs.ts";
import { checkAppend, checkFrom, checkSessionId } from "./checks.ts";
import {
  afterDeleted,
  checkToken,
  checkUnheld,
  type LeaseState,
  releaseLease,
  renewLease,
  takeLease,
} from "./lease.ts";
import { withSubAgents } from "./sub-agents.ts";

/** A journal in memory, for tests and for runs that need not outlive their process. All its methods are synchronous. */
export interface MemoryJournal extends Journal {
  append(session: string, expectedSeq: number, records: readonly LogRecord[], token?: number): void;
  read(session: string, from?: number): LogRecord[];
  list(): SessionInfo[];
  watch(session: string, heard: () => void): () => void;
  delete(session: string): string[];
  readonly blobs: BlobStore;
}

export interface MemoryJournalOptions {
  /**
   * Whether a session is held by a lease while it is driven. Default false: in memory a holder cannot be seen to be dead,
   * so a driver that was dropped would hold its session until the lease expires. Even without leases only one of two
   * drivers of a session can win.
   */
  leases?: boolean;
  /** The clock for leases, in milliseconds since 1970. Default: `Date.now`. */
  now?: () => number;
}

const optionChecks = membersOf<MemoryJournalOptions>({ leases: flag, now: callable });

/** @throws RondoError `invalid_request` naming the invalid option */
export function memoryJournal(options: MemoryJournalOptions = {}): MemoryJournal {
  checkGiven(optionChecks, options);
  const { leases: leasing = false, now = Date.now } = options;
  const sessions = new Map<string, LogRecord[]>();
  const leases = new Map<string, LeaseState>();
  const watchers = new Watchers();
  const blobs = memoryBlobs();
  let highestGone = 0;
  const lease = (session: string, request: LeaseRequest): Lease => {
    checkSessionId(session);
    const taken = takeLease(session, leases.get(session) ?? afterDeleted(highestGone), request, now());
    const { token } = taken;
    leases.set(session, taken);
    return {
      token,
      renew: () => void leases.set(session, renewLease(session, leases.get(session), token, now())),
      release() {
        const left = releaseLease(leases.get(session), token);
        if (left !== undefined) leases.set(session, left);
      },
    };
  };
  return {
    blobs,
    append(session, expectedSeq, records, token): void {
      const held = sessions.get(session);
      checkToken(session, leases.get(session), token, now());
      checkAppend(session, held?.length ?? 0, expectedSeq, records);
      if (records.length === 0) return;
      if (held === undefined) sessions.set(session, [...records]);
      else for (const record of records) held.push(record);
      watchers.tell(session);
    },
    read(session, from = 0): LogRecord[] {
      checkFrom(from);
      checkSessionId(session);
      return sessions.get(session)?.slice(from) ?? [];
    },
    list(): SessionInfo[] {
      const infos = [...sessions].map(([id, held]) => ({
        id,
        length: held.length,
        createdAt: held[0]!.at,
        updatedAt: held.at(-1)!.at,
      }));
      // If two have the same time, the one that began later comes first: the sort is stable.
      return infos.reverse().sort((a, b) => b.updatedAt - a.updatedAt);
    },
    ...(leasing ? { lease } : {}),
    watch(session, heard): () => void {
      checkSessionId(session);
      return watchers.add(session, heard);
    },
    delete(session): string[] {
      checkSessionId(session);
      const all = withSubAgents([session, ...sessions.keys(), ...leases.keys()], session);
      for (const id of all) checkUnheld(id, leases.get(id), now());
      const gone = all.filter((id) => sessions.delete(id));
      for (const id of all) {
        highestGone = Math.max(highestGone, leases.get(id)?.token ?? 0);
        leases.delete(id);
        void blobs.delete(id);
      }
      for (const id of gone) watchers.tell(id);
      return gone;
    },
  };
}

/** Who watches which session; for authors of journals. */
export class Watchers {
  readonly #heard = new Map<string, Set<() => void>>();

  get size(): number {
    return this.#heard.size;
  }

  sessions(): string[] {
    return [...this.#heard.keys()];
  }

  add(session: string, heard: () => void): () => void {
    // A callback that is added twice is called twice, and each is removed separately.
    const own = (): void => heard();
    const set = this.#heard.get(session) ?? new Set();
    this.#heard.set(session, set.add(own));
    return () => {
      set.delete(own);
      if (set.size === 0 && this.#heard.get(session) === set) this.#heard.delete(session);
    };
  }

  tell(session: string): void {
    for (const heard of [...(this.#heard.get(session) ?? [])])
      try {
        heard();
      } catch (thrown) {
        // The records are stored already: an error here must not reach the writer, and the other watchers must be called
        // too.
        queueMicrotask(() => {
          throw thrown;
        });
      }
  }

  tellAll(): void {
    for (const session of this.sessions()) this.tell(session);
  }
}
