// The room of erasing: removes every file of a session in an order that a crash cannot spoil.
//
// Texts go first; then the session's files, the newest first and the first one last. So what a crash leaves is still
// listed under the session's name (and read as damaged where records are missing), and a second call removes it. The
// lease goes last, after its token was saved elsewhere: on a full disk, saving it may need the space just freed.

import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { withSubAgents } from "@rondo/core";
import { homeOf, textsFolder } from "../file-blobs.ts";
import { syncFolder, withKnownFile } from "./files.ts";
import { idOf } from "./list.ts";
import { leaseSuffix, nameOf, newestSegments, sessionOf, suffix } from "./names.ts";

/** A session and its sub-agents' sessions, in the order to erase them, as far as they have files. */
export function sessionsToErase(folder: string, session: string): string[] {
  const names = new Set(newestSegments(folder).keys());
  for (const file of readdirSync(folder))
    if (file.endsWith(leaseSuffix)) names.add(file.slice(0, -leaseSuffix.length));
  // A name that ends in a digest does not spell the id: the file does.
  const ids = [...names].map(
    (name) => sessionOf(name) ?? withKnownFile(join(folder, name + suffix), "r", (file) => idOf(file)),
  );
  return withSubAgents([session, ...ids.filter((id) => id !== undefined)], session);
}

/** @returns whether it had any file */
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

/** Removes the lease of an erased session. */
export function eraseLease(folder: string, session: string): void {
  for (const left of ["", ".tmp"])
    rmSync(join(folder, nameOf(session) + leaseSuffix + left), { force: true });
}

/** The segment number of a session's file, a pending one (`.tmp`) included; undefined when it is not one. */
function segmentIn(file: string, name: string): number | undefined {
  if (!file.startsWith(`${name}.`)) return undefined;
  const [, segment] = /^(?:\.([1-9]\d{0,8}))?\.jsonl(?:\.tmp)?$/.exec(file.slice(name.length)) ?? [undefined];
  if (segment !== undefined) return Number(segment);
  return file === name + suffix ? 1 : undefined;
}
