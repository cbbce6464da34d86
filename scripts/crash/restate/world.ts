// The room of the worlds of many runs: a folder for each, found by the session that a call's key begins with.
//
// A model does not know whose session it answers in. So each run gets a slot, which is an agent with its own name;
// a slot has one run at a time, and a file says which.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BlobStore, Journal } from "@rondo/core";
import { effectsOf, openWorld, type Place } from "../place.ts";
import type { World } from "../scene-tools.ts";

/** The agent of a slot. */
export const agentOf = (slot: number): string => `scene-${slot}`;

/** The session that a call's key, or a helper's session id, begins with. */
export const mainOf = (key: string): string => key.split(":")[0] ?? key;

const folderOf = (scratch: string, session: string): string => join(scratch, session);

const slotFile = (scratch: string, slot: number): string => join(scratch, `slot-${slot}`);

/** Creates a run's world, and assigns the slot to it. */
export function takeSlot(scratch: string, slot: number, session: string): void {
  mkdirSync(folderOf(scratch, session));
  // Renamed into place, so that a reader sees the old name or the new one.
  writeFileSync(`${slotFile(scratch, slot)}.new`, session);
  renameSync(`${slotFile(scratch, slot)}.new`, slotFile(scratch, slot));
}

/** The world of the run that currently has a slot. */
export function slotWorld(scratch: string, slot: number): World {
  const now = (): string => {
    const file = slotFile(scratch, slot);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  };
  const of = (session: string): World => openWorld(folderOf(scratch, session), () => {});
  return {
    effect: (kind, key, what) => of(mainOf(key)).effect(kind, key, what),
    happened: (key) => of(mainOf(key)).happened(key),
    isFirst: (what) => of(now()).isFirst(what),
  };
}

/** The place of one of many runs in one journal. */
export const sessionPlace = (
  scratch: string,
  session: string,
  journal: Journal & { blobs: BlobStore },
): Place => ({
  session,
  holds: (id) => mainOf(id) === session,
  // Closed with the cluster, not by the reader of one run.
  open: () => ({
    append: (...group) => journal.append(...group),
    read: (id, from) => journal.read(id, from),
    list: () => journal.list(),
    blobs: journal.blobs,
  }),
  check: () => [],
  effects: () => effectsOf(folderOf(scratch, session)),
});
