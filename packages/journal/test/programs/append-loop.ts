// Appends groups of three to session `s` until it is killed; a number on stdout is a group that was acknowledged.

import { writeSync } from "node:fs";
import { sampleRecords } from "@rondo/testkit";
import { namedJournal } from "../named-journal.ts";

const [file = "", size = "10"] = process.argv.slice(2);
const journal = namedJournal(file);
let next = journal.read("s").length;
for (;;) {
  journal.append("s", next, sampleRecords(next, 3, "x".repeat(Number(size))));
  // Written at once, not queued: what is acknowledged has left this process.
  writeSync(1, `${next}\n`);
  next += 3;
}
