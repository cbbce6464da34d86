// Opens the file, waits for a line, then appends to the sessions 0 … rounds-1 at seq 0. Prints the rounds it won.

import { once } from "node:events";
import { RondoError } from "@rondo/core";
import { sampleRecord } from "@rondo/testkit";
import { namedJournal } from "../named-journal.ts";

const [file = "", me = "", rounds = "0"] = process.argv.slice(2);
const journal = namedJournal(file);
console.log("ready");
await once(process.stdin, "data");
for (let round = 0; round < Number(rounds); round++) {
  try {
    journal.append(String(round), 0, [sampleRecord(0, me), sampleRecord(1, me)]);
    console.log(`won ${round}`);
  } catch (thrown) {
    if (!(thrown instanceof RondoError) || thrown.kind !== "conflict") throw thrown;
    console.log(`lost ${round}`);
  }
}
journal.close();
process.stdin.destroy();
