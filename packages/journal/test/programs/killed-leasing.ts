// Is killed while it takes a lease in a folder of JSONL: it is written beside its place, and has not got its name.

import files from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { jsonlJournal } from "@rondo/journal";

const [folder = ""] = process.argv.slice(2);
files.renameSync = () => {
  process.kill(process.pid, "SIGKILL");
};
syncBuiltinESMExports();
jsonlJournal(folder).lease("s", { owner: "killed", ttlMs: 1_000 });
