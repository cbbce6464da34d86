// The room of the place: the folder of one run, and what it contains.

import { createHash } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { BlobStore, Journal, LogRecord } from "@rondo/core";
import { checkJournal, jsonlJournal, sqliteJournal } from "@rondo/journal";
import { session } from "./scene.ts";
import type { World } from "./scene-tools.ts";

/** Where a run took place, for judging it. */
export interface Place {
  /** The session in which it was started. */
  readonly session: string;
  /** Whether a session of its journal belongs to the run: its own, or a helper's. */
  holds(id: string): boolean;
  /** Its journal, with the texts kept beside it. The caller closes it. */
  open(): Journal & { blobs: BlobStore };
  /** What is wrong with the journal's files. */
  check(): string[];
  /** What really happened, in order. */
  effects(): Effect[];
}

/** The place of a run with a folder and journal of its own. */
export const folderPlace = (kind: JournalKind, folder: string): Place => ({
  session,
  holds: () => true,
  open: () => openJournal(kind, folder),
  check: () => checkJournal(journalPath(kind, folder)).findings.map(({ message }) => message),
  effects: () => effectsOf(folder),
});

export type JournalKind = "sqlite" | "jsonl";

export const journalPath = (kind: JournalKind, folder: string): string =>
  join(folder, kind === "sqlite" ? "journal.db" : "journal");

/** Small, so that a run of a few hundred kilobytes rotates again and again while it is killed. */
const rotateBytes = 8_000;

/** A run's journal, with the texts kept beside it. */
export function openJournal(kind: JournalKind, folder: string): Journal & { blobs: BlobStore } {
  const path = journalPath(kind, folder);
  if (kind === "sqlite") return sqliteJournal(path);
  return jsonlJournal(path, { warn: () => {}, rotateBytes });
}

const effectsFile = (folder: string): string => join(folder, "effects");

/** A run's world as its lives see it. `around` is called before and after each effect. */
export function openWorld(folder: string, around: (place: string) => void): World {
  const write = (text: string): void => {
    const file = openSync(effectsFile(folder), "a");
    try {
      writeSync(file, `${text}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  };
  return {
    effect(kind, key, what) {
      around(`effect ${what}: before`);
      write(`${kind} ${key} ${what}`);
      around(`effect ${what}: after`);
    },
    happened: (key) => effectsOf(folder).some((effect) => effect.key === key),
    isFirst(what) {
      const known = linesOf(folder).includes(`first ${what}`);
      if (!known) write(`first ${what}`);
      return !known;
    },
  };
}

export interface Effect {
  kind: string;
  key: string;
  what: string;
}

/** What really happened, in order. */
export function effectsOf(folder: string): Effect[] {
  return linesOf(folder)
    .map((line) => line.split(" "))
    .filter(([kind]) => kind === "write" || kind === "idempotent")
    .map(([kind = "", key = "", what = ""]) => ({ kind, key, what }));
}

function linesOf(folder: string): string[] {
  const file = effectsFile(folder);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

export const digestOf = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 16);

/** The digest of a record without its number, independent of its position. */
export const recordDigest = (record: LogRecord): string =>
  digestOf(JSON.stringify({ ...record, seq: undefined }));
