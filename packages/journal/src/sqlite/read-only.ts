// The room of the read-only journal: its file, or the folder that it lies in, is not ours to write.
//
// In WAL mode SQLite makes files beside the one it reads. Here it may not, and where it could they would be in the way of
// those who write. With a log beside it the file is read through what they keep there; without one it is read by
// itself and without a lock: whoever writes makes a log first, so that what changed meanwhile shows, and is read again.

import { realpathSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { checkFrom, checkSessionId, type LogRecord, RondoError, type SessionInfo } from "@rondo/core";
import type { FileJournal } from "../file-journal.ts";
import { refusals } from "../refusals.ts";
import { FileWatchers, looksOf, watchFiles } from "../watch-files.ts";
import { hasTexts, textIn, textQuery } from "./blobs.ts";
import { isBlank, loadSqlite, pause } from "./database.ts";
import { sqliteError } from "./errors.ts";
import { Sessions } from "./sessions.ts";

/** What a change of the journal shows in. */
const journalLooks = (file: string): string => `${looksOf(file)} ${looksOf(`${file}-wal`)}`;

/** Where it is behind links: there SQLite keeps the files beside it. One that is gone may come again at its own name. */
function behindLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** Acts on the file as it is now, and changes nothing. Throws what SQLite or the system throws. */
export function reading<T>(file: string, busyTimeoutMs: number, act: (db: DatabaseSync) => T): T {
  const real = realpathSync(file);
  // Bounded: a log stays for as long as whoever writes has the file open.
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
      // Whoever closes the file takes the log away, and the other one beside it a moment before.
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
