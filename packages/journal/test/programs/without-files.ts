// Uses up the files a process may have open, then opens a SQLite journal and appends to a folder of JSONL: says how both went, as JSON.

import { closeSync, openSync } from "node:fs";
import { RondoError } from "@rondo/core";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import { sampleRecord } from "@rondo/testkit";

const [file = "", folder = ""] = process.argv.slice(2);
const told = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (thrown) {
    return thrown instanceof RondoError ? thrown : { message: String(thrown) };
  }
};
// What is loaded late is loaded.
sqliteJournal(":memory:").close();
const jsonl = jsonlJournal(folder);
const open: number[] = [];
try {
  for (;;) open.push(openSync(folder, "r"));
} catch {
  // That was the last one.
}
const came = [told(() => sqliteJournal(file)), told(() => jsonl.append("s", 0, [sampleRecord(0)]))];
for (const one of open) closeSync(one);
console.log(JSON.stringify(came));
