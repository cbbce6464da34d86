// Opens a journal, appends one record and says how it went, as JSON.

import { RondoError } from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { sampleRecord } from "@rondo/testkit";

try {
  const journal = sqliteJournal(process.argv[2] ?? "");
  journal.append("s", 0, [sampleRecord(0)]);
  journal.close();
  console.log(JSON.stringify({ opened: true }));
} catch (thrown) {
  console.log(JSON.stringify(thrown instanceof RondoError ? thrown : { message: String(thrown) }));
}
