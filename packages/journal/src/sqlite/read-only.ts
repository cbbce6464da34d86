// The room of the read-only journal: one whose file or folder must not or cannot be written.
//
// In WAL mode SQLite creates -wal and -shm even to read. Here it may not, and the files would disturb the writers. With
// a -wal present, the file is read through it; without one it is read alone and without locks (immutable). A writer
// creates a -wal before it changes anything, so a change in the meantime is noticed, and the read is repeated.

import { realpathSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { checkFrom, checkSessionId, type LogRecord, RondoError, type SessionInfo } from "@rondo/core";
import type { FileJournal } from "../file-journal.ts";
import { refusals } from "../refusals.ts";
import { FileWatchers, looksOf, watchFiles } from "../watch-files.ts";
import { hasTexts, textIn, textQuery } from "./blobs.ts";
import { isBlank, pause } from "./database.ts";
import { sqliteError } from "./errors.ts";
import { loadSqlite } from "./library.ts";
import { Sessions } from "./sessions.ts";

/** A value that changes when the journal does. */
const journalLooks = (file: string): string => `${looksOf(file)} ${looksOf(`${file}-wal`)}`;

/** The real path, as SQLite keeps its -wal and -shm there. A file that is gone may reappear under its own name. */
function behindLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** Runs `act` on the current file, and changes nothing. Throws SQLite's or the system's own errors. */
export function reading<T>(file: string, busyTimeoutMs: number, act: (db: DatabaseSync) => T): T {
  const real = realpathSync(file);
  // Bounded: a -wal stays as long as a writer has the file open.
  for (let left = 3; ; left -= 1) {
    const before = journalLooks(real);
    const alone = !statSync(`${real}-wal`, { throwIfNoEntry: false })?.size;
    const changed = (): boolean => journalLooks(real) !== before;
    const address = pathToFileURL(real);
    address.searchParams.set(alone ? "immutable" : "readonly_shm", "1");
    let db: DatabaseSync | undefined;
    try {
      db = new (loadSqlite())(address, { readOnly: true, timeout: busyTimeoutMs });
      const result = act(db);
      if (left === 0 || !alone || !changed()) return result;
    } catch (thrown) {
      if (left === 0 || (alone ? !changed() : thrown instanceof RondoError)) throw thrown;
      // The last writer to close removes -shm a moment before -wal.
      pause();
    } finally {
      db?.close();
    }
  }
}

/** @param why it cannot be written */
export function onlyReading(file: string, busyTimeoutMs: number, why: string): FileJournal {
  let closed = false;
  const watchers = new FileWatchers(() => {
    const real = behindLinks(file);
    let seen = journalLooks(real);
    const look = (): void => {
      const now = journalLooks(real);
      if (now === seen) return;
      seen = now;
      watchers.tellAll();
    };
    return watchFiles(dirname(real), (changed) => changed.startsWith(basename(real)), look);
  });
  const perform = <T>(doing: string, act: (db: DatabaseSync) => T): T => {
    if (closed) throw new RondoError("invalid_request", `the journal ${file} is closed`);
    try {
      return reading(file, busyTimeoutMs, act);
    } catch (thrown) {
      throw sqliteError(file, doing, thrown);
    }
  };
  /** A file that nothing was written to yet has no tables. */
  const sessionsIn = (db: DatabaseSync): Sessions | undefined =>
    isBlank(db) ? undefined : new Sessions(db, file);
  const refuse = refusals(file, why);
  return {
    read(session, from = 0): LogRecord[] {
      checkFrom(from);
      checkSessionId(session);
      return perform("read", (db) => sessionsIn(db)?.read(session, from) ?? []);
    },
    list: (): SessionInfo[] => perform("list", (db) => sessionsIn(db)?.list() ?? []),
    append: refuse.append,
    lease: refuse.lease,
    watch: (session, heard) => watchers.add(session, heard),
    delete: refuse.delete,
    blobs: {
      put: refuse.put,
      get: (session, ref) =>
        perform("read a text in", (db) => (hasTexts(db) ? textIn(textQuery(db), session, ref) : undefined)),
      delete: refuse.deleteTexts,
    },
    close(): void {
      closed = true;
      watchers.close();
    },
  };
}
