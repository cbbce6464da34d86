// Reads session `s` of a folder, tries to append to it, and says how both went, as JSON.

import { RondoError } from "@rondo/core";
import { jsonlJournal } from "@rondo/journal";
import { sampleRecord } from "@rondo/testkit";

const journal = jsonlJournal(process.argv[2] ?? "");
const read = journal.read("s").length;
let error: unknown;
try {
  journal.append("s", read, [sampleRecord(read)]);
} catch (thrown) {
  error = thrown instanceof RondoError ? thrown : { message: String(thrown) };
}
console.log(JSON.stringify({ read, error }));
