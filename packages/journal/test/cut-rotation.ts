// A rotation that a crash cut off: what must still be there, whatever the folder looks like.

import { join } from "node:path";
import type { LogRecord } from "@rondo/core";
import { checkJournal, jsonlJournal } from "@rondo/journal";
import { sampleRecord, sampleRecords } from "@rondo/testkit";
import { expect } from "vitest";
import { everyInstant, type Files, filesOf, putFiles, type Watched, watchCalls } from "./rotation-states.ts";

export const rotateBytes = 600;

const first = (): LogRecord[] => [...sampleRecords(0, 2, "first ä😀"), ...sampleRecords(2, 1, "second")];
const next = (): LogRecord[] => sampleRecords(3, 2, "third\nline");

/** An append that rotates, looked at after each call of the file system. */
export function watchedRotation(folder: string): Watched {
  const journal = jsonlJournal(folder, { rotateBytes });
  journal.append("s", 0, first().slice(0, 2));
  journal.append("s", 2, first().slice(2));
  const watched = watchCalls(folder, () => journal.append("s", 3, next()));
  journal.close();
  return watched;
}

/** What a folder looks like, in a word. */
function shapeOf(files: Files, whole: Files): string {
  const part = (name: string, end: number | undefined): string => {
    const bytes = files.get(name);
    if (bytes === undefined) return "";
    return `${name}${bytes.length === end ? "" : bytes.at(-1) === 10 ? " at a line" : " torn"}`;
  };
  const heads = (whole.get("s.2.jsonl")?.indexOf(10) ?? 0) + 1;
  return [
    part("s.jsonl", whole.get("s.jsonl")?.length),
    part("s.2.jsonl.tmp", heads),
    part("s.2.jsonl", whole.get("s.2.jsonl")?.length),
  ]
    .filter(Boolean)
    .join(", ");
}

/** Tries every instant, and every length (or each `step`th) that a file may have had. @returns the shapes that came */
export function cutRotation(folder: string, step: number): Set<string> {
  const { states } = watchedRotation(join(folder, "watched"));
  const whole = filesOf(join(folder, "watched"));
  const both = new Map([...whole, ["s.2.jsonl.tmp", Buffer.from("left over")]]);
  const shapes = new Set<string>();
  for (const files of [...everyInstant(states, step), both]) {
    const shape = shapeOf(files, whole);
    shapes.add(shape);
    const stored = files.get("s.2.jsonl")?.length === whole.get("s.2.jsonl")?.length;
    tryState(join(folder, "tried"), files, [...first(), ...(stored ? next() : [])], shape);
  }
  return shapes;
}

function tryState(place: string, files: Files, kept: LogRecord[], shape: string): void {
  putFiles(place, files);
  const newest = files.has("s.2.jsonl") ? "s.2.jsonl" : "s.jsonl";
  const torn = files.get(newest)?.at(-1) !== 10;
  const warned: string[] = [];
  const journal = jsonlJournal(place, { rotateBytes, warn: (message) => warned.push(message) });
  // A reader changes nothing: a writer may be in the middle of it.
  expect(journal.read("s"), shape).toEqual(kept);
  expect(journal.read("s", 2), shape).toEqual(kept.slice(2));
  expect(journal.list(), shape).toMatchObject([{ id: "s", length: kept.length, updatedAt: kept.at(-1)?.at }]);
  const { findings, records, sessions } = checkJournal(place);
  expect({ records, sessions }, shape).toEqual({ records: kept.length, sessions: 1 });
  expect(
    findings.map(({ what, message }) => [what, message.split(":")[0]]),
    shape,
  ).toEqual(torn ? [["torn_tail", newest]] : []);
  expect(filesOf(place), shape).toEqual(files);
  const more = sampleRecord(kept.length, "on");
  journal.append("s", kept.length, [more]);
  expect(warned, shape).toHaveLength(torn ? 1 : 0);
  expect(journal.read("s"), shape).toEqual([...kept, more]);
  journal.append("s", kept.length + 1, sampleRecords(kept.length + 1, 3));
  journal.close();
  const again = jsonlJournal(place);
  expect(again.read("s"), shape).toEqual([...kept, more, ...sampleRecords(kept.length + 1, 3)]);
  again.close();
  expect(checkJournal(place), shape).toMatchObject({ findings: [], records: kept.length + 4, sessions: 1 });
  // The check repairs what is torn and leaves the rest of the rotation to a writer.
  putFiles(place, files);
  checkJournal(place, { repair: true });
  expect(checkJournal(place), shape).toMatchObject({ findings: [], records: kept.length });
  expect([...filesOf(place).keys()].sort(), shape).toEqual([...files.keys()].sort());
}
