// The room of the options of commands: what may be said of one, whoever runs it.

import type { Permission } from "@rondo/core";
import {
  type Check,
  type ChecksOf,
  count,
  finite,
  finite0,
  flag,
  listOf,
  membersOf,
  oneOf,
  recordOf,
  text,
} from "@rondo/core/checks";
import { type FileToolSet, fileToolChecks } from "../options.ts";
import type { SandboxMode } from "./sandbox.ts";

export interface RunCommandOptions {
  /** The folder commands run in; in the sandbox the one place they can write. Must exist. */
  root: string | FileToolSet;
  /** Default: `ask`. */
  permission?: Permission;
  /** Default: `auto`: bubblewrap where it works; each result says whether it did. */
  sandbox?: SandboxMode;
  /** Let commands in the sandbox use the network. Without the sandbox they always can. Default: false. */
  network?: boolean;
  /** More paths that can be read in the sandbox. */
  readable?: readonly string[];
  /** Keep git's hooks and settings as they are in the sandbox, those of submodules and linked worktrees too: they act outside of it later. Default: true. */
  protectGit?: boolean;
  /** Milliseconds when the call asks for none. Default: 120,000, or `maxTimeoutMs` where that is less. */
  timeoutMs?: number;
  /** The longest a call may ask for, at least `timeoutMs`. Default: 600,000. */
  maxTimeoutMs?: number;
  /** Milliseconds between TERM and KILL. Default: 500. */
  graceMs?: number;
  /** Bytes kept of each of stdout and stderr, from both ends. Default: 24,576. */
  maxOutputBytes?: number;
  /** Set for commands, whatever their names: the one way to give a command a secret. */
  env?: Readonly<Record<string, string>>;
}

/** What the options of commands must be, wherever they run. */
export const commandChecks: ChecksOf<Omit<RunCommandOptions, "root" | "permission">> = {
  sandbox: oneOf("auto", "require", "off"),
  network: flag,
  readable: listOf(text),
  protectGit: flag,
  timeoutMs: finite,
  maxTimeoutMs: finite,
  graceMs: finite0,
  maxOutputBytes: count,
  env: recordOf(text),
};

/** What the options of `runCommand` must be. */
export const runCommandOptions: Check = membersOf<RunCommandOptions>(
  { ...fileToolChecks, ...commandChecks },
  ["root"],
);
