// Holds a SQLite journal open in its main thread, and opens it in a second thread as well. Says `open`; on a line it appends a record, and says how many there are.

import { once } from "node:events";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { sqliteJournal } from "@rondo/journal";
import { sampleRecord } from "@rondo/testkit";

const file = parentPort === null ? (process.argv[2] ?? "") : String(workerData);
const journal = sqliteJournal(file);
if (parentPort !== null) {
  parentPort.postMessage(journal.list().length);
  await once(parentPort, "message");
} else {
  journal.append("s", 0, [sampleRecord(0)]);
  const second = new Worker(new URL(import.meta.url), { workerData: file, execArgv: process.execArgv });
  await once(second, "message");
  console.log("open");
  await once(process.stdin, "data");
  journal.append("s", 1, [sampleRecord(1)]);
  console.log(`has ${journal.read("s").length}`);
  second.postMessage("end");
  await once(second, "exit");
  process.stdin.destroy();
}
journal.close();
