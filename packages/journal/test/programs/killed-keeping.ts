// Is killed while it keeps a text: it is written beside its place, and has not got its name.

import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { fileBlobs } from "@rondo/journal";

const [folder = "", text = ""] = process.argv.slice(2);
files.rename = async () => {
  process.kill(process.pid, "SIGKILL");
};
syncBuiltinESMExports();
await fileBlobs(folder).put("s", text, { callId: "call_1", tool: "shell", isError: false });
