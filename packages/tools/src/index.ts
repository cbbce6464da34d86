// The room of the public face: what @rondo/tools exports.

export { cleanOutput } from "@rondo/core";
export { type CalculateOptions, calculate } from "./calculate.ts";
export { type ClassicToolsOptions, classicTools } from "./classic/tools.ts";
export type { RunCommandOptions } from "./command/options.ts";
export { type EditFileOptions, editFile } from "./files/edit-file.ts";
export { type FileGuardOptions, fileGuard, type GuardedFile } from "./files/file-guard.ts";
export { type ListFilesOptions, listFiles } from "./files/list-files.ts";
export { type ReadFileOptions, readFile } from "./files/read-file.ts";
export { type WriteFileOptions, writeFile } from "./files/write-file.ts";
export { type FileToolsOptions, fileTools } from "./files.ts";
export type { HttpToolsOptions } from "./http/options.ts";
export { httpTools } from "./http-tools.ts";
export type { McpCallOptions, McpClient, McpTool } from "./mcp/client.ts";
export { type McpToolsOptions, mcpTools } from "./mcp-tools.ts";
export { type NoteProgressOptions, noteProgress } from "./note-progress.ts";
export { type FileToolOptions, type FileToolSet, fileToolSet } from "./options.ts";
export { runCommand } from "./run-command.ts";
export { type SearchFilesOptions, searchFiles } from "./search/search-files.ts";
export { type SearchableOptions, searchable } from "./searchable.ts";
