// The room of the JSONL journal: a folder, one file per session (more when it grows large), one line per group.
//
// For those who want text. A group is one write and one fdatasync; a new file's folder is fsynced as well. An append
// holds the folder's lock, so comparing, checking the lease and appending are one step among all processes. The next
// writer cuts off a torn tail (what a crash left after the last line feed) and says so; nothing else is ever repaired.
// The whole texts of cut results are files, too, in a folder next to the sessions.

import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  afterDeleted,
  checkAppend,
  checkFrom,
  checkSessionId,
  checkSize,
  type Lease,
  type LeaseRequest,
  type LogRecord,
  messageOf,
  RondoError,
  type SessionInfo,
  type SizeBounds,
} from "@rondo/core";
import { callable, checkGiven, count, membersOf, orNull } from "@rondo/core/checks";
import { type FileBlobs, textsFolder, textsIn } from "./file-blobs.ts";
import { type FileJournal, type FileJournalOptions, fileJournalChecks } from "./file-journal.ts";
import { FolderLock } from "./folder-lock.ts";
import { eraseLease, eraseSession, sessionsToErase } from "./jsonl/erase.ts";
import { fileError } from "./jsonl/errors.ts";
import { appendDurably, cutDurably, readIfThere, replaceFile, syncFolder, withFile } from "./jsonl/files.ts";
import { KnownSessions } from "./jsonl/known-sessions.ts";
import { groupLine, headerLine } from "./jsonl/lines.ts";
import { type Listed, listSession } from "./jsonl/list.ts";
import { leaseSuffix, nameOf, newestSegments, suffix } from "./jsonl/names.ts";
import { finishRotation, rotate } from "./jsonl/rotation.ts";
import type { Newest, SessionFiles } from "./jsonl/session.ts";
import { FileLeases, type StoredLease } from "./leases.ts";
import { placeOf } from "./location.ts";
import { makeFolder } from "./make-folder.ts";
import { warnOfNetwork } from "./network-drive.ts";
import { openedToRead, refusals } from "./refusals.ts";
import { isOfOneFile } from "./system-says.ts";
import { FileWatchers, looksOf, watchFiles } from "./watch-files.ts";

export interface JsonlJournalOptions extends FileJournalOptions {
  /**
   * How large a session's file may grow, in bytes, before it is sealed and the next one begun (`NAME.2.jsonl`, …).
   * A larger group gets a file of its own. `null`: never rotate. Default 64 MiB.
   */
  rotateBytes?: number | null;
  /** Called with what is no error but should be known: a torn tail was cut off, a file cannot be listed, the folder is on a network drive. Default: `process.emitWarning`. */
  warn?: (message: string) => void;
}

/** A journal in a folder of text files. All its methods but those of `blobs` are synchronous; after `close` all of them refuse. */
export interface JsonlJournal extends FileJournal {
  readonly blobs: FileBlobs;
}

const optionChecks = membersOf<JsonlJournalOptions>({
  ...fileJournalChecks,
  rotateBytes: orNull(count),
  warn: callable,
});

const emitWarning = (message: string): void => process.emitWarning(message);

/**
 * The journal in `folder`, which is created if missing (not with `readOnly`). Several processes may use one folder.
 * @throws RondoError `invalid_request` naming the folder when it cannot be used, or the invalid option
 */
export function jsonlJournal(folder: string | URL, options: JsonlJournalOptions = {}): JsonlJournal {
  const path = placeOf(folder, "a JSONL journal", "folder");
  checkGiven(optionChecks, options);
  const { readOnly = false, busyTimeoutMs = 5_000 } = options;
  try {
    if (!readOnly) makeFolder(path, 0o700);
    // A folder without write permission can still be read.
    accessSync(path, constants.R_OK | constants.X_OK);
    readdirSync(path);
  } catch (thrown) {
    throw new RondoError(
      "invalid_request",
      `cannot open the journal ${path}: ${messageOf(thrown)}; it must be a folder that can be read${readOnly ? "" : ", or can be made"}`,
      { cause: thrown },
    );
  }
  const journal = new FolderJournal(path, busyTimeoutMs, options);
  const { warn = emitWarning } = options;
  if (!readOnly) warnOfNetwork(path, path, warn);
  return readOnly ? onlyReading(journal, path) : journal;
}

function onlyReading(journal: JsonlJournal, folder: string): JsonlJournal {
  const refuse = refusals(folder, openedToRead);
  return {
    read: (session, from) => journal.read(session, from),
    list: () => journal.list(),
    watch: (session, heard) => journal.watch(session, heard),
    close: () => journal.close(),
    append: refuse.append,
    lease: refuse.lease,
    delete: refuse.delete,
    blobs: {
      get: (session, ref) => journal.blobs.get(session, ref),
      put: async () => refuse.put(),
      delete: async () => refuse.deleteTexts(),
    },
  };
}

/** What one append stores. */
interface Group {
  session: string;
  /** The seq of its first record. */
  seq: number;
  records: readonly LogRecord[];
  /** The JSON of each record. */
  texts: readonly string[];
}

class FolderJournal implements JsonlJournal {
  readonly blobs: FileBlobs;
  readonly #folder: string;
  readonly #lock: FolderLock;
  readonly #bounds: SizeBounds;
  readonly #rotateBytes: number;
  readonly #warn: (message: string) => void;
  readonly #leases: FileLeases;
  readonly #sessions: KnownSessions;
  readonly #warned = new Set<string>();
  readonly #watchers = new FileWatchers(() => this.#watchFolder());
  #closed = false;

  constructor(folder: string, timeout: number, options: JsonlJournalOptions) {
    const { now = Date.now, warn = emitWarning, blobs, ...bounds } = options;
    const { rotateBytes = 64 * 2 ** 20 } = options;
    this.#folder = folder;
    this.#sessions = new KnownSessions(folder);
    this.#lock = new FolderLock(join(folder, "lock"), timeout);
    this.#bounds = bounds;
    this.#rotateBytes = rotateBytes ?? Number.POSITIVE_INFINITY;
    this.#warn = warn;
    this.#leases = new FileLeases(folder, now);
    this.blobs = textsIn(join(folder, textsFolder), blobs, () => {
      this.#checkOpen();
      // If the folder was removed, storing a text must not recreate it: the session would go on in an empty journal.
      statSync(folder);
    });
  }

  append(session: string, expectedSeq: number, records: readonly LogRecord[], token?: number): void {
    checkSessionId(session);
    const path = this.#path(session);
    // Before taking the lock: serializing a large group takes time.
    this.#perform(path, "append to", () => {
      const texts = records.map((record) => JSON.stringify(record));
      this.#lock.hold(() => this.#store({ session, seq: expectedSeq, records, texts }, token));
    });
    if (records.length > 0) this.#watchers.tell(session);
  }

  read(session: string, from = 0): LogRecord[] {
    checkFrom(from);
    checkSessionId(session);
    const path = this.#path(session);
    return this.#perform(path, "read", () => this.#sessions.of(session).read(from));
  }

  list(): SessionInfo[] {
    return this.#perform(this.#folder, "list", () => {
      const found = [...newestSegments(this.#folder)]
        .map(([name, newest]) => this.#listed(name, newest))
        .filter((one) => one !== undefined);
      // Same time: the one created later comes first.
      found.sort((a, b) => b.info.updatedAt - a.info.updatedAt || Number(b.bornAt - a.bornAt));
      return found.map(({ info }) => info);
    });
  }

  /** A file that is damaged or unreadable must not hide the others; a warning tells of it. */
  #listed(name: string, newest: number): Listed | undefined {
    const path = join(this.#folder, name + suffix);
    try {
      const told = listSession(this.#folder, name, newest);
      if (told === undefined || "listed" in told) return told?.listed;
      this.#warnOnce(`the journal ${path} is not listed: ${told.why}`);
    } catch (thrown) {
      if (!isOfOneFile(thrown)) throw thrown;
      this.#warnOnce(fileError(path, "list", thrown).message);
    }
    return undefined;
  }

  /** Once per message: a folder may be listed again and again. */
  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#warn(message);
  }

  lease(session: string, request: LeaseRequest): Lease {
    checkSessionId(session);
    const path = this.#path(session, leaseSuffix);
    return this.#leases.take(session, request, {
      locked: (doing, act) => this.#perform(path, doing, () => this.#lock.hold(act)),
      held: () => this.#lease(path),
      highestGone: () => this.#lease(this.#leaseOfDeleted)?.token ?? 0,
      store: (lease) => replaceFile(path, `${JSON.stringify(lease)}\n`),
      isClosed: () => this.#closed,
    });
  }

  watch(session: string, heard: () => void): () => void {
    return this.#watchers.add(session, heard);
  }

  delete(session: string): string[] {
    checkSessionId(session);
    const path = this.#path(session);
    const gone = this.#perform(path, "delete", () => this.#lock.hold(() => this.#delete(session)));
    for (const id of gone) this.#watchers.tell(id);
    return gone;
  }

  #delete(session: string): string[] {
    const all = sessionsToErase(this.#folder, session).map((id) => {
      const held = this.#lease(this.#path(id, leaseSuffix));
      this.#leases.checkUnheld(id, held);
      return { id, token: held?.token ?? 0 };
    });
    const gone = all.filter(({ id }) => {
      this.#sessions.of(id).forget();
      return eraseSession(this.#folder, id);
    });
    const before = this.#lease(this.#leaseOfDeleted)?.token ?? 0;
    const highest = Math.max(before, ...all.map(({ token }) => token));
    const lease: StoredLease = { ...afterDeleted(highest), process: null };
    if (highest > before) replaceFile(this.#leaseOfDeleted, `${JSON.stringify(lease)}\n`);
    for (const { id } of all) eraseLease(this.#folder, id);
    return gone.map(({ id }) => id);
  }

  /** Holds the highest token of all deleted sessions; no session has an empty name. */
  get #leaseOfDeleted(): string {
    return join(this.#folder, leaseSuffix);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#lock.close();
    this.#watchers.close();
  }

  /** Stores a group, in a new segment when the newest one is full. */
  #store(group: Group, token: number | undefined): void {
    const { session, seq, records } = group;
    this.#leases.check(session, this.#lease(this.#path(session, leaseSuffix)), token);
    const known = this.#sessions.of(session);
    const put = (): "stored" | "rotated" | undefined =>
      known.newest(
        "r+",
        (newest) => this.#put(group, known, newest),
        (segment) => finishRotation(known.path(segment)),
      );
    let done = put();
    if (done === undefined) {
      checkAppend(session, 0, seq, records);
      if (records.length === 0) return;
      withFile(this.#path(session), "wx", () => {});
      done = put();
    }
    // The new segment is empty, and takes a group of any size.
    if (done === "rotated") put();
  }

  /** Appends a group to the newest segment, or begins the next segment when there is no room. */
  #put(group: Group, known: SessionFiles, { file, segment, torn }: Newest): "stored" | "rotated" {
    const { session, seq, records, texts } = group;
    known.checkFormat();
    checkAppend(session, known.length, seq, records);
    const added = texts.map((text) => Buffer.byteLength(text));
    checkSize(session, seq, known.size, added, this.#bounds);
    if (torn > 0) {
      cutDurably(file, segment.size);
      this.#warn(
        `the journal ${segment.path} ended in ${torn} bytes of a line that was never acknowledged: they were cut ` +
          `off, and ${known.length} records stand`,
      );
    }
    if (records.length === 0) return "stored";
    const head = segment.size === 0 ? headerLine(session) : Buffer.alloc(0);
    const line = groupLine(seq, texts);
    try {
      if (!segment.isEmpty && segment.size + line.length > this.#rotateBytes) {
        rotate(session, file, segment, known.path(segment.number + 1));
        return "rotated";
      }
      // Before the group: once that is durable nothing may fail any more. The process that created the file may have died here.
      if (segment.size === 0) syncFolder(this.#folder);
      appendDurably(file, Buffer.concat([head, line]), segment.size);
    } catch (thrown) {
      known.forget();
      throw thrown;
    }
    segment.appended(head.length, line.length, records);
    return "stored";
  }

  #path(session: string, ending: string = suffix): string {
    return join(this.#folder, nameOf(session) + ending);
  }

  /** Undefined when it was never taken, or was lost in a power failure: then every holder is gone too. */
  #lease(path: string): StoredLease | undefined {
    const text = readIfThere(path);
    if (text === undefined) return undefined;
    try {
      const { token, owner, at, ttlMs, process: mark } = JSON.parse(text) as StoredLease;
      if (!Number.isSafeInteger(token)) return undefined;
      return { token, ...(owner === undefined ? {} : { owner }), at, ttlMs, process: String(mark) };
    } catch {
      return undefined;
    }
  }

  /** Reports files that other processes changed; our own appends report themselves. */
  #watchFolder(): () => void {
    const changed = this.#changes();
    changed();
    const look = (): void => {
      for (const session of changed()) this.#watchers.tell(session);
    };
    return watchFiles(this.#folder, (name) => name.endsWith(suffix), look);
  }

  /** Returns a function that lists the watched sessions whose files have changed since its last call. */
  #changes(): () => string[] {
    const seen = new Map<string, string>();
    const newest = new Map<string, number>();
    const hasChanged = (session: string): boolean => {
      const files = this.#sessions.of(session);
      let segment = newest.get(session) ?? 1;
      // It may have been deleted, and begun anew.
      if (!existsSync(files.path(segment))) segment = 1;
      while (existsSync(files.path(segment + 1))) segment += 1;
      newest.set(session, segment);
      const before = seen.get(session);
      const now = `${segment}/${looksOf(files.path(segment))}`;
      seen.set(session, now);
      return before !== now;
    };
    return () => [...this.#watchers.sessions()].filter(hasChanged);
  }

  #checkOpen(): void {
    if (this.#closed) throw new RondoError("invalid_request", `the journal ${this.#folder} is closed`);
  }

  #perform<T>(path: string, doing: string, act: () => T): T {
    this.#checkOpen();
    try {
      return act();
    } catch (thrown) {
      throw fileError(path, doing, thrown);
    }
  }
}
