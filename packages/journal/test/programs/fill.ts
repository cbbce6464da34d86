// Appends 20 kB groups until that fails; then frees what `rm` names, appends once more, and says how it all went.

import { rmSync, statSync } from "node:fs";
import { RondoError } from "@rondo/core";
import { sampleRecords } from "@rondo/testkit";
import { namedJournal } from "../named-journal.ts";

const [file = "", ballast = ""] = process.argv.slice(2);
const journal = namedJournal(file);
let next = 0;
const append = (): void => {
  journal.append("s", next, sampleRecords(next, 2, "x".repeat(10_000)));
  next += 2;
};
let failure: unknown;
try {
  for (;;) append();
} catch (thrown) {
  failure = thrown;
}
const readable = journal.read("s").length;
let wentOn: boolean | undefined;
if (ballast !== "" && statSync(ballast).size > 0) {
  rmSync(ballast);
  append();
  wentOn = true;
}
console.log(
  JSON.stringify({
    acknowledged: next,
    readable,
    wentOn,
    error: failure instanceof RondoError ? failure : String(failure),
  }),
);
