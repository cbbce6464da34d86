// Lists a folder, reads session `s` of it, tries to append to it, and says how that went, as JSON.

import { RondoError } from "@rondo/core";
import { jsonlJournal } from "@rondo/journal";
import { sampleRecord } from "@rondo/testkit";

const warnings: string[] = [];
const journal = jsonlJournal(process.argv[2] ?? "", { warn: (message) => warnings.push(message) });
const listed = journal.list().map(({ id }) => id);
const read = journal.read("s").length;
let error: unknown;
try {
  journal.append("s", read, [sampleRecord(read)]);
} catch (thrown) {
  error = thrown instanceof RondoError ? thrown : { message: String(thrown) };
}
console.log(JSON.stringify({ listed, read, error, warnings }));
