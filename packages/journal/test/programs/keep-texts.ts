// Keeps twenty texts, ten of them the same in every process, and says their refs.

import type { BlobStore } from "@rondo/core";
import { fileBlobs, sqliteJournal } from "@rondo/journal";

const [kind, place = "", worker = ""] = process.argv.slice(2);
const store: BlobStore = kind === "sqlite" ? sqliteJournal(place).blobs : fileBlobs(place);
const kept: [string, string][] = [];
for (let at = 0; at < 20; at += 1) {
  const text = at < 10 ? `everybody's ${at}\n`.repeat(500) : `of ${worker}: ${at}\n`.repeat(500);
  const put = await store.put("shared", text, { callId: `call_${at}`, tool: "shell", isError: false });
  if (!put.ok) throw new Error(put.reason);
  kept.push([put.ref, text]);
}
console.log(JSON.stringify(kept));
