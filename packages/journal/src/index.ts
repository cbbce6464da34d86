// The face of @rondo/journal.
export { type FileBlobs, fileBlobs } from "./file-blobs.ts";
export { type SqliteJournal, type SqliteJournalOptions, sqliteJournal } from "./sqlite-journal.ts";
