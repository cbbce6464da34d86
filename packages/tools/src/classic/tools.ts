// The room of the classic tools: the four tools of the plain loop, with its texts.
//
// What a model reads of them is short and fixed. The implementation is this package's own: paths stay under the root,
// a file changes atomically, and a command ends with everything it started.

import type { Permission, Tool } from "@rondo/core";
import { checkGiven, count, from0, membersOf } from "@rondo/core/checks";
import { commandChecks, type RunCommandOptions } from "../command/options.ts";
import { type FileToolSet, fileToolSet, permissionOption } from "../options.ts";
import { executeCommand } from "./execute-command.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { writeFile } from "./write-file.ts";

export interface ClassicToolsOptions {
  /** For `write_file`. Default: `allow`. */
  writePermission?: Permission;
  /** For `execute_command`. Default: `ask`. */
  commandPermission?: Permission;
  /** Sandbox, network, environment and limits of commands, as for `runCommand`. */
  command?: Omit<RunCommandOptions, "root" | "permission" | "timeoutMs" | "maxTimeoutMs">;
  /** Largest file read or written, in bytes. Default: 32 MiB. */
  maxBytes?: number;
  /** Maximum number of entries listed. Default: 10,000. */
  maxEntries?: number;
}

const optionChecks = membersOf<ClassicToolsOptions>({
  writePermission: permissionOption,
  commandPermission: permissionOption,
  command: membersOf(commandChecks),
  maxBytes: from0,
  maxEntries: count,
});

/**
 * `read_file`, `write_file`, `list_files` and `execute_command` over one root.
 * @throws RondoError `invalid_request` when the root is not a folder; `capability` on Windows, which has no POSIX shell
 */
export function classicTools(root: string | FileToolSet, options: ClassicToolsOptions = {}): Tool[] {
  checkGiven(optionChecks, options, "classicTools");
  const set = fileToolSet(root);
  const { maxBytes = 32 * 1024 * 1024, maxEntries = 10_000 } = options;
  return [
    readFile(set, maxBytes),
    writeFile(set, maxBytes, options.writePermission ?? "allow"),
    listFiles(set, maxEntries),
    executeCommand(set, options.commandPermission ?? "ask", options.command ?? {}),
  ];
}
