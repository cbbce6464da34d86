// The room of the worlds of many runs: a folder for each, told apart by the session that a call's key begins with.
//
// A model is not told whose session it answers in. So a run is given a slot, which is an agent with a name of its own;
// a slot has one run after the other, and a file says which.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BlobStore, Journal } from "@rondo/core";
import { effectsOf, openWorld, type Place } from "../place.ts";
import type { World } from "../scene.ts";

/** The agent of a slot. */
export const agentOf = (slot: number): string => `scene-${slot}`;

/** The session that a call's key, or the id of a helper's session, begins with. */
export const mainOf = (key: string): string => key.split(":")[0] ?? key;

const folderOf = (scratch: string, session: string): string => join(scratch, session);

const slotFile = (scratch: string, slot: number): string => join(scratch, `slot-${slot}`);

/** Gives a run its world, and its slot to it. */
export function takeSlot(scratch: string, slot: number, session: string): void {
  mkdirSync(folderOf(scratch, session));
  // Whoever reads it reads the old name or the new one.
  writeFileSync(`${slotFile(scratch, slot)}.new`, session);
  renameSync(`${slotFile(scratch, slot)}.new`, slotFile(scratch, slot));
}

/** The world of whatever run a slot has. */
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

/** The place of a run among many in one journal. */
export const sessionPlace = (
  scratch: string,
  session: string,
  journal: Journal & { blobs: BlobStore },
): Place => ({
  session,
  holds: (id) => mainOf(id) === session,
  // Closed with the cluster, not by whoever reads one run.
  open: () => ({
    append: (...group) => journal.append(...group),
    read: (id, from) => journal.read(id, from),
    list: () => journal.list(),
    blobs: journal.blobs,
  }),
  check: () => [],
  effects: () => effectsOf(folderOf(scratch, session)),
});
