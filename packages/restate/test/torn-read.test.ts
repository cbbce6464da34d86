// Records in an object's key-value state, as a reader sees them who reads while somebody writes.

import { sampleRecords } from "@rondo/testkit";
import { expect, test } from "vitest";
import { readLines } from "../src/state/page.ts";
import { type KeyValues, lineOf } from "../src/state/pieces.ts";
import { RecordStore } from "../src/state/store.ts";

function memory(state: Map<string, string> = new Map()): KeyValues {
  return {
    get: async (keys) => keys.map((key) => state.get(key) ?? null),
    keys: async () => [...state.keys()],
    set: (key, value) => void state.set(key, value),
  };
}

test("a reader is shown no gap when records are written between the reading of one key and of the next", async () => {
  const kv = memory();
  const { store } = await RecordStore.load(kv, []);
  const lines = sampleRecords(0, 160).map(lineOf);
  const write = (count: number): void => {
    for (let at = 0; at < count && store.seq < lines.length; at += 1)
      store.append(lines.slice(store.seq, store.seq + 1), true);
  };
  write(3);
  for (const between of [1, 5, 9, 2, 12]) {
    // The keys are of before, the values of after: as a shared handler reads them.
    const torn: KeyValues = {
      ...kv,
      get: async (keys) => {
        write(between);
        return kv.get(keys);
      },
    };
    for (const from of [0, 2]) {
      const read = await readLines(torn, await kv.keys(), from);
      expect(read.lines).toEqual(lines.slice(from, read.seq));
      const page = await readLines(torn, await kv.keys(), from, 1);
      expect(page).toMatchObject({ lines: lines.slice(from, from + 1), next: from + 1 });
    }
  }
  expect(store.seq).toBeGreaterThan(50);
});

test("whoever asks for records of before the first is shown the first ones, and waits for no others", async () => {
  const kv = memory();
  const { store } = await RecordStore.load(kv, []);
  const lines = sampleRecords(0, 3).map(lineOf);
  store.append(lines, false);
  expect((await readLines(kv, await kv.keys(), -1)).lines).toEqual(lines);
});

test("a reader of a session that is deleted between the reading of its keys and of their values reads none", async () => {
  const state = new Map<string, string>();
  const kv = memory(state);
  const { store } = await RecordStore.load(kv, []);
  for (const line of sampleRecords(0, 60).map(lineOf)) store.append([line], false);
  const torn: KeyValues = {
    ...kv,
    get: (keys) => {
      state.clear();
      return kv.get(keys);
    },
  };
  expect(await readLines(torn, await kv.keys(), 0)).toEqual({ seq: 0, lines: [], driven: false });
});
