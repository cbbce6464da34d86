// The face of @rondo/tools.
export { type CalculateOptions, calculate } from "./calculate.ts";
export { type ClassicToolsOptions, classicTools } from "./classic/tools.ts";
export type { RunCommandOptions } from "./command-options.ts";
export { type EditFileOptions, editFile } from "./edit-file.ts";
export { type FileGuardOptions, fileGuard, type GuardedFile } from "./file-guard.ts";
export { type FileToolsOptions, fileTools } from "./files.ts";
export type { HttpToolsOptions } from "./http/options.ts";
export { httpTools } from "./http-tools.ts";
export { type ListFilesOptions, listFiles } from "./list-files.ts";
export { type NoteProgressOptions, noteProgress } from "./note-progress.ts";
export { type FileToolOptions, type FileToolSet, fileToolSet } from "./options.ts";
export { type ReadFileOptions, readFile } from "./read-file.ts";
export { runCommand } from "./run-command.ts";
export { type SearchFilesOptions, searchFiles } from "./search-files.ts";
export { cleanOutput } from "./terminal-text.ts";
export { type WriteFileOptions, writeFile } from "./write-file.ts";
