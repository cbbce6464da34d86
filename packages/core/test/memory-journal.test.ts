import { type LogRecord, memoryJournal, userText } from "@rondo/core";
import { expect, it } from "vitest";

const record: LogRecord = {
  type: "queued",
  id: "m",
  lane: "steer",
  message: userText("hi"),
  seq: 0,
  at: 1,
  rand: 0,
};

it("is synchronous and keeps the very objects it was given", () => {
  const journal = memoryJournal();
  expect(journal.append("a", 0, [record])).toBeUndefined();
  expect(journal.read("a")[0]).toBe(record);
});

it("appends two hundred thousand records in one group", () => {
  const journal = memoryJournal();
  journal.append("a", 0, [record]);
  journal.append(
    "a",
    1,
    Array.from({ length: 200_000 }, (_, i) => ({ ...record, seq: i + 1 })),
  );
  expect(journal.list()).toEqual([{ id: "a", length: 200_001, createdAt: 1, updatedAt: 1 }]);
});
