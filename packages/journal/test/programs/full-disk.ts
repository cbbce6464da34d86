// On a small disk of its own: two journals, one closed and one whose writer is killed; then the disk is filled, and both
// are read.

import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import { sampleRecords } from "@rondo/testkit";

const [place = "", what = ""] = process.argv.slice(2);
const open = place.endsWith(".db") ? sqliteJournal : jsonlJournal;
if (what === "write and die") {
  open(place).append("s", 0, sampleRecords(0, 3));
  process.kill(process.pid, "SIGKILL");
} else {
  const at = (which: string): string => join(dirname(place), `${which}-${place.split("/").at(-1)}`);
  const closed = open(at("closed"));
  closed.append("s", 0, sampleRecords(0, 3));
  closed.close();
  spawnSync(process.execPath, [...process.execArgv, process.argv[1] ?? "", at("killed"), "write and die"]);
  const ballast = openSync(join(dirname(place), "ballast"), "w");
  try {
    for (;;) writeSync(ballast, Buffer.alloc(4_096));
  } catch {
    closeSync(ballast);
  }
  const read = (which: string): number => open(at(which), { readOnly: true }).read("s").length;
  console.log(JSON.stringify({ killed: read("killed"), closed: read("closed") }));
}
