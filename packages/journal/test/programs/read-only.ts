// Reads session `s` of a SQLite file in every way there is, tries to write to it in every way, and says how that went, as JSON.

import { RondoError } from "@rondo/core";
import { checkJournal, sqliteJournal } from "@rondo/journal";
import { sampleRecord } from "@rondo/testkit";

const file = process.argv[2] ?? "";

function refusal(attempt: () => unknown): unknown {
  try {
    attempt();
  } catch (thrown) {
    return thrown instanceof RondoError ? thrown : { message: String(thrown) };
  }
  return undefined;
}

const journal = sqliteJournal(file);
const listed = journal.list().map(({ id, length }) => `${id}: ${length}`);
const read = journal.read("s");
const text = journal.blobs.get("s", process.argv[3] ?? "");
const origin = { callId: "call", tool: "tool", isError: false };
const refused = [
  () => journal.append("s", read.length, [sampleRecord(read.length)]),
  () => journal.lease("s", { owner: "me", ttlMs: 1_000 }),
  () => journal.blobs.put("s", "a text", origin),
  () => journal.blobs.delete("s"),
].map(refusal);
journal.close();
const { sessions, records, findings } = checkJournal(file);
console.log(
  JSON.stringify({ listed, read: read.length, text, refused, check: { sessions, records, findings } }),
);
