// The room of the file tools' set: all file tools over one root.

import type { Permission, Tool } from "@rondo/core";
import { checkGiven, flag, membersOf, object } from "@rondo/core/checks";
import { type EditFileOptions, editFile } from "./files/edit-file.ts";
import { type ListFilesOptions, listFiles } from "./files/list-files.ts";
import { type ReadFileOptions, readFile } from "./files/read-file.ts";
import { type WriteFileOptions, writeFile } from "./files/write-file.ts";
import { type FileToolSet, fileToolChecks, fileToolSet, permissionOption } from "./options.ts";
import { type SearchFilesOptions, searchFiles } from "./search/search-files.ts";

type Own<T> = Omit<T, "root">;

export interface FileToolsOptions {
  /** The folder the tools stay under. Must exist. */
  root: string | FileToolSet;
  /** Leave out `write_file` and `edit_file`. Default: false. */
  readOnly?: boolean;
  /** For `write_file` and `edit_file`. Default: `allow`. */
  writePermission?: Permission;
  /** Options of single tools. */
  list?: Own<ListFilesOptions>;
  read?: Own<ReadFileOptions>;
  search?: Own<SearchFilesOptions>;
  write?: Own<WriteFileOptions>;
  edit?: Own<EditFileOptions>;
}

const optionChecks = membersOf<FileToolsOptions>(
  {
    root: fileToolChecks.root,
    readOnly: flag,
    writePermission: permissionOption,
    list: object,
    read: object,
    search: object,
    write: object,
    edit: object,
  },
  ["root"],
);

/**
 * `list_files`, `read_file`, `search_files`, `write_file` and `edit_file` over one root; writes know what was read.
 * @throws RondoError `invalid_request` when the root is not a folder
 */
export function fileTools(options: FileToolsOptions): Tool[] {
  checkGiven(optionChecks, options, "fileTools");
  const root = fileToolSet(options.root);
  const permission = options.writePermission === undefined ? {} : { permission: options.writePermission };
  const reading = [
    listFiles({ ...options.list, root }),
    readFile({ ...options.read, root }),
    searchFiles({ ...options.search, root }),
  ];
  if (options.readOnly) return reading;
  return [
    ...reading,
    writeFile({ ...permission, ...options.write, root }),
    editFile({ ...permission, ...options.edit, root }),
  ];
}
