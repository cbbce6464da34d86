// Waits for a line, then makes (or opens) the files 0.db … count-1.db of a folder, each with a session of its own.

import { once } from "node:events";
import { join } from "node:path";
import { sqliteJournal } from "@rondo/journal";
import { sampleRecord } from "@rondo/testkit";

const [folder = "", me = "", count = "0"] = process.argv.slice(2);
console.log("ready");
await once(process.stdin, "data");
for (let i = 0; i < Number(count); i++) {
  const journal = sqliteJournal(join(folder, `${i}.db`));
  journal.append(me, 0, [sampleRecord(0, me)]);
  journal.close();
}
process.stdin.destroy();
