// The room of the JSONL journal: a folder, a file a session, a line a group.
//
// For those who want text. A group is one write and one fdatasync; a new file's name is made to last, too. Whoever
// appends holds the folder's lock, so comparing, the lease and the append are one among all processes. What a crash
// left of a group behind the last line feed is cut off by the next writer, who says so; nothing else is ever repaired.

import { accessSync, constants, mkdirSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  checkAppend,
  checkFrom,
  checkSessionId,
  checkSize,
  checkToken,
  type Journal,
  type Lease,
  type LeaseRequest,
  type LeaseState,
  type LogRecord,
  messageOf,
  RondoError,
  releaseLease,
  renewLease,
  type SessionInfo,
  type SizeBounds,
  takeLease,
  Watchers,
} from "@rondo/core";
import { FolderLock } from "./folder-lock.ts";
import { giveUp, holderName, isFree, ownMark, takeUp } from "./holder.ts";
import {
  appendDurably,
  cutDurably,
  fileError,
  readIfThere,
  replaceFile,
  syncFolder,
  withFile,
  withKnownFile,
} from "./jsonl-files.ts";
import { groupLine, headerLine } from "./jsonl-lines.ts";
import { listFile } from "./jsonl-list.ts";
import { nameOf, suffix } from "./jsonl-names.ts";
import { SessionFile } from "./jsonl-session.ts";
import { watchFiles } from "./watch-files.ts";

export interface JsonlJournalOptions extends SizeBounds {
  /** How long to wait for another process's append, in milliseconds. Default 5,000. The wait blocks the thread. */
  busyTimeoutMs?: number;
  /** Hears what is not an error, but should be known: that a torn tail was cut off. Default: `process.emitWarning`. */
  warn?: (message: string) => void;
  /** The clock that leases go by, in milliseconds since 1970. Default: `Date.now`. */
  now?: () => number;
}

/** A journal in a folder of text files. All its methods are synchronous; a closed one refuses. */
export interface JsonlJournal extends Journal {
  append(session: string, expectedSeq: number, records: readonly LogRecord[], token?: number): void;
  read(session: string, from?: number): LogRecord[];
  list(): SessionInfo[];
  /** Taken from a process that is known to be gone without waiting. */
  lease(session: string, request: LeaseRequest): Lease;
  /** Hears what other processes append, too. */
  watch(session: string, heard: () => void): () => void;
  /** May be called twice. */
  close(): void;
}

/**
 * The journal in `folder`, which is made where it is missing. Several processes may use one folder.
 * @throws RondoError `invalid_request` naming the folder when it is none, or cannot be used
 */
export function jsonlJournal(folder: string | URL, options: JsonlJournalOptions = {}): JsonlJournal {
  const timeout = options.busyTimeoutMs ?? 5_000;
  if (!Number.isSafeInteger(timeout) || timeout < 0 || timeout > 0x7fff_ffff)
    throw new RondoError(
      "invalid_request",
      `busyTimeoutMs must be a whole number of milliseconds, not ${timeout}`,
    );
  if (folder === "") throw new RondoError("invalid_request", "a JSONL journal needs the name of a folder");
  const path = resolve(typeof folder === "string" ? folder : fileURLToPath(folder));
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    // A folder that can only be read is good for reading.
    accessSync(path, constants.R_OK | constants.X_OK);
    readdirSync(path);
  } catch (thrown) {
    throw new RondoError(
      "invalid_request",
      `cannot open the journal ${path}: ${messageOf(thrown)}; it must be a folder that can be read`,
      { cause: thrown },
    );
  }
  return new Folder(path, timeout, options);
}

/** A lease as it stands in its file. */
interface StoredLease extends LeaseState {
  process: string;
}

class Folder implements JsonlJournal {
  readonly #folder: string;
  readonly #lock: FolderLock;
  readonly #bounds: SizeBounds;
  readonly #warn: (message: string) => void;
  readonly #now: () => number;
  readonly #sessions = new Map<string, SessionFile>();
  readonly #watchers = new Watchers();
  #stopWatching: (() => void) | undefined;
  #closed = false;

  constructor(folder: string, timeout: number, options: JsonlJournalOptions) {
    const { now = Date.now, warn = (message) => process.emitWarning(message), ...bounds } = options;
    this.#folder = folder;
    this.#lock = new FolderLock(join(folder, "lock"), timeout);
    this.#bounds = bounds;
    this.#warn = warn;
    this.#now = now;
  }

  append(session: string, expectedSeq: number, records: readonly LogRecord[], token?: number): void {
    checkSessionId(session);
    const path = this.#path(session);
    // Before the lock: making JSON of a large group takes time.
    this.#perform(path, "append to", () => {
      const texts = records.map((record) => JSON.stringify(record));
      this.#lock.hold(() => this.#store(session, expectedSeq, records, texts, token));
    });
    if (records.length > 0) this.#watchers.tell(session);
  }

  read(session: string, from = 0): LogRecord[] {
    checkFrom(from);
    checkSessionId(session);
    const path = this.#path(session);
    return this.#perform(path, "read", () => {
      const known = this.#session(session);
      const records = withKnownFile(path, "r", (file) => known.read(file, from));
      known.checkFormat();
      return records ?? [];
    });
  }

  list(): SessionInfo[] {
    return this.#perform(this.#folder, "list", () => {
      const found = readdirSync(this.#folder)
        .filter((name) => name.endsWith(suffix))
        .map((name) => withKnownFile(join(this.#folder, name), "r", listFile))
        .filter((one) => one !== undefined);
      // Of two with the same time, the one that began later comes first.
      found.sort((a, b) => b.info.updatedAt - a.info.updatedAt || Number(b.bornAt - a.bornAt));
      return found.map(({ info }) => info);
    });
  }

  lease(session: string, request: LeaseRequest): Lease {
    checkSessionId(session);
    const path = `${this.#path(session, ".lease")}`;
    const change = (doing: string, next: (held: StoredLease | undefined) => LeaseState | undefined): number =>
      this.#perform(path, doing, () =>
        this.#lock.hold(() => {
          const state = next(this.#lease(session));
          if (state === undefined) return 0;
          // Who renews it is who took it; words for others are made when they are needed.
          const { owner, ...rest } = state;
          const named = owner === undefined ? {} : { owner: request.owner };
          replaceFile(path, `${JSON.stringify({ ...rest, ...named, process: ownMark() })}\n`);
          return state.token;
        }),
      );
    const token = change("take a lease in", (held) =>
      takeLease(session, inWords(held), request, this.#now(), this.#isFree(session, held)),
    );
    const own = { place: this.#folder, session, token };
    takeUp(own);
    return {
      token,
      renew: () => void change("renew a lease in", (held) => renewLease(session, held, token, this.#now())),
      release: () => {
        giveUp(own);
        if (this.#closed) return;
        change("release a lease in", (held) =>
          held?.token === token ? releaseLease(held, token) : undefined,
        );
        takeUp(own);
      },
    };
  }

  #isFree(session: string, held: StoredLease | undefined): boolean {
    return held !== undefined && isFree(held.process, { place: this.#folder, session, token: held.token });
  }

  watch(session: string, heard: () => void): () => void {
    checkSessionId(session);
    const forget = this.#watchers.add(session, heard);
    if (!this.#closed) this.#stopWatching ??= this.#watchFolder();
    return () => {
      forget();
      if (this.#watchers.size > 0) return;
      this.#stopWatching?.();
      this.#stopWatching = undefined;
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopWatching?.();
    this.#lock.close();
    this.#watchers.tellAll();
  }

  #store(
    session: string,
    expectedSeq: number,
    records: readonly LogRecord[],
    texts: readonly string[],
    token: number | undefined,
  ): void {
    const path = this.#path(session);
    const held = this.#lease(session);
    if (held === undefined ? token !== undefined : token !== held.token || held.owner === undefined)
      checkToken(session, inWords(held), token, this.#now(), this.#isFree(session, held));
    const known = this.#session(session);
    const put = (file: number): void => {
      const torn = known.refresh(file);
      known.checkFormat();
      checkAppend(session, known.length, expectedSeq, records);
      const added = texts.map((text) => Buffer.byteLength(text));
      checkSize(session, expectedSeq, known.size, added, this.#bounds);
      if (torn > 0) {
        cutDurably(file, known.size);
        this.#warn(
          `the journal ${path} ended in ${torn} bytes of a group that was never acknowledged: they were cut off, ` +
            `and ${known.length} records stand`,
        );
      }
      if (records.length === 0) return;
      const isNew = known.size === 0;
      const head = isNew ? headerLine(session) : Buffer.alloc(0);
      const group = groupLine(expectedSeq, texts);
      try {
        appendDurably(file, Buffer.concat([head, group]), known.size);
        if (isNew) syncFolder(this.#folder);
      } catch (thrown) {
        known.forget();
        throw thrown;
      }
      known.appended(head.length, group.length, records);
    };
    const there = withKnownFile(path, "r+", (file) => {
      put(file);
      return true;
    });
    if (there) return;
    checkAppend(session, 0, expectedSeq, records);
    if (records.length > 0) withFile(path, "wx+", put);
  }

  #session(session: string): SessionFile {
    let known = this.#sessions.get(session);
    if (known === undefined) {
      known = new SessionFile(this.#path(session), session);
      this.#sessions.set(session, known);
    }
    return known;
  }

  #path(session: string, ending: string = suffix): string {
    return join(this.#folder, nameOf(session) + ending);
  }

  /** Undefined when it was never taken, or went with the power: then every holder went with it. */
  #lease(session: string): StoredLease | undefined {
    const text = readIfThere(this.#path(session, ".lease"));
    if (text === undefined) return undefined;
    try {
      const { token, owner, at, ttlMs, process: mark } = JSON.parse(text) as StoredLease;
      if (!Number.isSafeInteger(token)) return undefined;
      return { token, ...(owner === undefined ? {} : { owner }), at, ttlMs, process: String(mark) };
    } catch {
      return undefined;
    }
  }

  /** Tells of files that others have changed; our own appends tell of themselves. */
  #watchFolder(): () => void {
    const seen = new Map<string, string>();
    const look = (first: boolean): void => {
      for (const session of this.#watchers.sessions()) {
        const stat = statSync(this.#path(session), { throwIfNoEntry: false });
        const now = stat === undefined ? "" : `${stat.ino}/${stat.size}`;
        const changed = seen.get(session) !== now;
        seen.set(session, now);
        if (changed && !first) this.#watchers.tell(session);
      }
    };
    look(true);
    return watchFiles(
      this.#folder,
      (name) => name.endsWith(suffix),
      () => look(false),
    );
  }

  #perform<T>(path: string, doing: string, act: () => T): T {
    if (this.#closed) throw new RondoError("invalid_request", `the journal ${this.#folder} is closed`);
    try {
      return act();
    } catch (thrown) {
      throw fileError(path, doing, thrown);
    }
  }
}

/** As the protocol knows it, with its holder in words. */
function inWords(held: StoredLease | undefined): LeaseState | undefined {
  if (held?.owner === undefined) return held;
  return { ...held, owner: holderName(held.owner, held.process) };
}
