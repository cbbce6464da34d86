// The room of the file: examines a file before SQLite may write to it.
//
// A foreign file must not change by a byte. SQLite cannot promise that when it opens a file to write (in WAL mode it creates
// files beside it, and closing may rewrite it), so the header is first read from what it takes for a file that nobody changes.

import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { messageOf, RondoError } from "@rondo/core";
import { makeFolder } from "../make-folder.ts";
import { codeIn } from "./errors.ts";
import { loadSqlite, pragma } from "./library.ts";
import { tablesVersion } from "./tables.ts";

/** Device and inode of the file at a path, to tell it from a later one there; undefined when there is none. */
export function identityOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? undefined : identityIn(stat);
}

/** Whether the file was truncated to nothing. */
export const isCut = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.size === 0;

/** Of whole numbers: an inode may need 64 bits (NTFS, overlayfs), and rounded it is also its neighbour's. */
const identityIn = ({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): string => `${dev}/${ino}`;

const headerBytes = 100;

interface Header {
  application: number;
  version: number;
}

/** "Rond", in the header of every file of ours. */
export const applicationId: number = 0x52_6f_6e_64;

/**
 * Makes sure that the file is one of our journals, or does not exist yet (then its folder is created).
 * @param onlyRead the file must exist, and nothing is created
 * @returns why it can only be read; undefined when it can be written
 * @throws RondoError `invalid_request` naming the file, which is left untouched.
 */
export function checkFile(file: string, onlyRead: boolean = false): string | undefined {
  const refuse = (why: string, cause?: unknown): never => {
    throw new RondoError("invalid_request", `cannot open the journal ${file}: ${why}`, { cause });
  };
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined && onlyRead) refuse("it is not there");
    else if (stat === undefined) makeFolder(dirname(file), 0o700);
    else if (stat.isDirectory()) refuse("it is a folder; name a file in it");
    else if (!stat.isFile()) refuse("it is not a regular file");
    const isBlank = stat === undefined || stat.size === 0;
    // SQLite creates a -wal only for a file with content: so the file was truncated, and waiting for its user would not help.
    if (stat !== undefined && isBlank && identityOf(`${realpathSync(file)}-wal`) !== undefined)
      throw new RondoError(
        "storage",
        `cannot open the journal ${file}: it is empty, and ${file}-wal stands beside it: it was cut to nothing, or made ` +
          "anew, while it was open; close it everywhere, remove what stands beside it (-wal, -shm) and put a copy in its place",
      );
    const unread = stat === undefined ? undefined : cannot(file, constants.R_OK);
    if (unread !== undefined)
      refuse(`it cannot be read (${messageOf(unread)}); ${remedyFor(unread)}`, unread);
    let whyOnlyRead: string | undefined;
    // SQLite creates -wal and -shm beside it.
    for (const path of onlyRead ? [] : stat === undefined ? [dirname(file)] : [dirname(file), file]) {
      const thrown = cannot(path, constants.R_OK | constants.W_OK);
      if (thrown === undefined) continue;
      whyOnlyRead = `${path} cannot be read and written (${messageOf(thrown)}); ${remedyFor(thrown)}`;
      if (isBlank) refuse(whyOnlyRead, thrown);
    }
    if (isBlank) return whyOnlyRead;
    // SQLite takes a file without a whole header for an empty one.
    const header = stat.size < headerBytes ? undefined : headerOf(file);
    if (header === undefined) return refuse("it is not a SQLite database; name another file");
    if (header.application !== applicationId)
      refuse("it is a SQLite database of another application; name another file");
    checkVersion(file, header.version);
    return whyOnlyRead;
  } catch (thrown) {
    if (thrown instanceof RondoError) throw thrown;
    return refuse(messageOf(thrown), thrown);
  }
}

/** On a read-only file system, changing permissions would not help. */
const remedyFor = (thrown: unknown): string =>
  (thrown as NodeJS.ErrnoException).code === "EROFS"
    ? "mount its file system for writing, or name another place"
    : "change its permissions";

/** The access error; undefined when access is allowed. */
function cannot(path: string, mode: number): unknown {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

/** @throws RondoError `invalid_request` when the tables are newer than this code; `storage` when there never was such a version */
export function checkVersion(file: string, version: number): void {
  if (version < 1)
    throw new RondoError(
      "storage",
      `cannot open the journal ${file}: it is damaged: its header names format ${version}, which there never was; ` +
        "restore a copy of the file",
    );
  if (version > tablesVersion)
    throw new RondoError(
      "invalid_request",
      `cannot open the journal ${file}: it has format ${version}, written by a newer Rondo (this one knows ${tablesVersion}); ` +
        "update @rondo/journal",
    );
}

/**
 * What the header says, read by SQLite. POSIX drops all of a process's locks on a file when any of its descriptors for that
 * file is closed, and then SQLite in another process takes the file for its own, and removes the files beside it. Only SQLite
 * knows what this process has open, in any of its threads, and closes its descriptor after that.
 * @returns undefined for what is no database
 */
function headerOf(file: string): Header | undefined {
  const address = pathToFileURL(realpathSync(file));
  // Neither locks the file, nor makes any beside it.
  address.searchParams.set("immutable", "1");
  let db: DatabaseSync | undefined;
  try {
    db = new (loadSqlite())(address, { readOnly: true });
    return { application: pragma(db, "application_id"), version: pragma(db, "user_version") };
  } catch (thrown) {
    // It may still be ours, and damaged.
    if (codeIn(thrown) !== undefined) return damagedHeaderOf(file);
    throw thrown;
  } finally {
    db?.close();
  }
}

/** From the first 100 bytes, as SQLite's file format lays them out: for a file that SQLite cannot read, and so nobody has open as a journal. */
function damagedHeaderOf(file: string): Header | undefined {
  const header = Buffer.alloc(headerBytes);
  const handle = openSync(file, "r");
  try {
    let got = 0;
    while (got < header.length) {
      const read = readSync(handle, header, got, header.length - got, got);
      if (read === 0) return undefined;
      got += read;
    }
  } finally {
    closeSync(handle);
  }
  if (header.toString("latin1", 0, 16) !== "SQLite format 3\0") return undefined;
  return { application: header.readUInt32BE(68), version: header.readUInt32BE(60) };
}
