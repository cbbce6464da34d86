// The face of @rondo/journal.
export { type JsonlJournal, type JsonlJournalOptions, jsonlJournal } from "./jsonl-journal.ts";
export { type SqliteJournal, type SqliteJournalOptions, sqliteJournal } from "./sqlite-journal.ts";
