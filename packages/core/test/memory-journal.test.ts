import { type LogRecord, memoryJournal, userText } from "@rondo/core";
import { expect, it, vi } from "vitest";

const record: LogRecord = {
  type: "queued",
  id: "m",
  lane: "steer",
  message: userText("hi"),
  seq: 0,
  at: 1,
  rand: 0,
};

it("is synchronous and returns the very objects it was given", () => {
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

it("keeps what is appended, and calls all watchers, even if one of them throws", () => {
  const later = vi.spyOn(globalThis, "queueMicrotask").mockImplementation(() => {});
  try {
    const journal = memoryJournal();
    const heard: string[] = [];
    journal.watch("a", () => {
      throw new Error("a watcher's own");
    });
    journal.watch("a", () => {
      heard.push("a");
      if (heard.length === 1) journal.watch("a", () => heard.push("from now on"));
    });
    journal.append("a", 0, [record]);
    expect(heard).toEqual(["a"]);
    expect(later).toHaveBeenCalledOnce();
    expect(later.mock.lastCall?.[0]).toThrow("a watcher's own");
    journal.append("a", 1, [{ ...record, seq: 1 }]);
    expect(heard).toEqual(["a", "a", "from now on"]);
  } finally {
    later.mockRestore();
  }
});
