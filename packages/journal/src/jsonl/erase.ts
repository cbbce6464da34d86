// The room of erasing: every file of a session is removed, so that no crash leaves what no second call would remove.
//
// Its texts go first and its first file last, of several files the newest first: what a crash leaves of a session is still
// listed under its name, and read as damaged where records are missing. Its lease goes once the highest token is kept
// elsewhere, which may need the room that was made. Only who holds the folder's lock erases.

import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { withSubAgents } from "@rondo/core";
import { homeOf, textsFolder } from "../file-blobs.ts";
import { syncFolder, withKnownFile } from "./files.ts";
import { idOf } from "./list.ts";
import { leaseSuffix, nameOf, newestSegments, sessionOf, suffix } from "./names.ts";

/** A session and those of its sub-agents, in the order to erase them in, as far as there is anything of them. */
export function sessionsToErase(folder: string, session: string): string[] {
  const names = new Set(newestSegments(folder).keys());
  for (const file of readdirSync(folder))
    if (file.endsWith(leaseSuffix)) names.add(file.slice(0, -leaseSuffix.length));
  // A name that is not written out tells no id: its file does.
  const ids = [...names].map(
    (name) => sessionOf(name) ?? withKnownFile(join(folder, name + suffix), "r", (file) => idOf(file)),
  );
  return withSubAgents([session, ...ids.filter((id) => id !== undefined)], session);
}

/** @returns whether there was a file of it */
export function eraseSession(folder: string, session: string): boolean {
  const texts = join(folder, textsFolder);
  rmSync(join(texts, homeOf(session)), { recursive: true, force: true });
  if (existsSync(texts)) syncFolder(texts);
  const name = nameOf(session);
  const segments = readdirSync(folder)
    .map((file) => ({ file, segment: segmentIn(file, name) }))
    .filter(({ segment }) => segment !== undefined)
    .sort((a, b) => Number(b.segment) - Number(a.segment));
  for (const { file } of segments) rmSync(join(folder, file));
  if (segments.length > 0) syncFolder(folder);
  return segments.length > 0;
}

/** Removes the lease of a session that is gone. */
export function eraseLease(folder: string, session: string): void {
  for (const left of ["", ".tmp"])
    rmSync(join(folder, nameOf(session) + leaseSuffix + left), { force: true });
}

/** Which of a session's files it is, one that has not its name yet counted; undefined where it is none. */
function segmentIn(file: string, name: string): number | undefined {
  if (!file.startsWith(`${name}.`)) return undefined;
  const [, segment] = /^(?:\.([1-9]\d{0,8}))?\.jsonl(?:\.tmp)?$/.exec(file.slice(name.length)) ?? [undefined];
  if (segment !== undefined) return Number(segment);
  return file === name + suffix ? 1 : undefined;
}
