// The room of the public face: what @rondo/journal exports.

export type { CheckOptions, CheckReport, Finding } from "./check/report.ts";
export { checkJournal } from "./check.ts";
export { type FileBlobs, fileBlobs } from "./file-blobs.ts";
export { type JsonlJournal, type JsonlJournalOptions, jsonlJournal } from "./jsonl-journal.ts";
export { type SqliteJournal, type SqliteJournalOptions, sqliteJournal } from "./sqlite-journal.ts";
