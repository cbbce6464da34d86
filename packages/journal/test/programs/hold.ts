// Takes the lease of session `s` and appends one record for each line it hears; says what came of it, a line each.

import { createInterface } from "node:readline";
import { RondoError } from "@rondo/core";
import { sampleRecord } from "@rondo/testkit";
import { namedJournal } from "../named-journal.ts";

const [file = "", ttlMs = "600000"] = process.argv.slice(2);
const journal = namedJournal(file);
const { token } = journal.lease("s", { owner: "worker", ttlMs: Number(ttlMs) });
console.log(`held ${token}`);
for await (const _ of createInterface({ input: process.stdin })) {
  const next = journal.read("s").length;
  try {
    journal.append("s", next, [sampleRecord(next)], token);
    console.log(`wrote ${next}`);
  } catch (thrown) {
    console.log(
      `refused ${thrown instanceof RondoError ? `${thrown.kind} ${thrown.message}` : String(thrown)}`,
    );
  }
}
