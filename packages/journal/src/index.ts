// The face of @rondo/journal.
export { type SqliteJournal, type SqliteJournalOptions, sqliteJournal } from "./sqlite-journal.ts";
