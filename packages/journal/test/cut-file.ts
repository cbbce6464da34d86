// A JSONL file that is cut: what must still be there, at every cut.

import { copyFileSync, mkdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { LogRecord } from "@rondo/core";
import { checkJournal, jsonlJournal } from "@rondo/journal";
import { sampleRecord, sampleRecords } from "@rondo/testkit";
import { expect } from "vitest";

/** Appends the groups to session `s` and says where the file ended after each. */
export function written(place: string, groups: readonly LogRecord[][]): { file: string; ends: number[] } {
  const journal = jsonlJournal(place);
  const file = join(place, "s.jsonl");
  const ends = groups.map((group) => {
    journal.append("s", group[0]?.seq ?? 0, group);
    return readFileSync(file).length;
  });
  journal.close();
  return { file, ends };
}

export const three = (): LogRecord[][] => [
  sampleRecords(0, 2, "first ä😀"),
  sampleRecords(2, 1, "second"),
  sampleRecords(3, 3, "third\nline"),
];

/** Cuts at every `step`th byte, and one before, at and after the end of each line. */
export function cutFile(folder: string, step: number): void {
  const groups = three();
  const whole = written(join(folder, "whole"), groups);
  const head = readFileSync(whole.file).indexOf(10) + 1;
  const size = whole.ends.at(-1) ?? 0;
  const near = [0, head, ...whole.ends].flatMap((end) => [end - 1, end, end + 1]);
  const place = join(folder, "cut");
  mkdirSync(place);
  const file = join(place, "s.jsonl");
  for (let cut = 0; cut <= size; cut += 1) {
    if (cut % step !== 0 && !near.includes(cut)) continue;
    copyFileSync(whole.file, file);
    truncateSync(file, cut);
    const kept = groups.slice(0, whole.ends.filter((end) => end <= cut).length).flat();
    const boundary = cut === 0 || cut === head || whole.ends.includes(cut);
    const warned: string[] = [];
    const journal = jsonlJournal(place, { warn: (message) => warned.push(message) });
    // A reader takes nothing away: a writer may be in the middle of a line.
    expect(journal.read("s")).toEqual(kept);
    expect(readFileSync(file).length).toBe(cut);
    const found = checkJournal(file).findings;
    expect(found.map(({ what }) => what)).toEqual(boundary ? [] : ["torn_tail"]);
    journal.append("s", kept.length, [sampleRecord(kept.length, "on")]);
    expect(warned).toHaveLength(boundary ? 0 : 1);
    if (!boundary) expect(warned[0]).toContain(`${kept.length} records stand`);
    expect(journal.read("s")).toEqual([...kept, sampleRecord(kept.length, "on")]);
    journal.close();
    expect(checkJournal(place)).toMatchObject({ findings: [], records: kept.length + 1, sessions: 1 });
  }
}
