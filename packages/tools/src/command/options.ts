// The room of command options: their types and checks, for all tools that run commands.

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
  /** The folder commands run in, and in the sandbox the only one they can write. Must exist. */
  root: string | FileToolSet;
  /** Default: `ask`. */
  permission?: Permission;
  /** Default: `auto`: bubblewrap if it works; each result says whether it was used. */
  sandbox?: SandboxMode;
  /** Allows network access in the sandbox. Without the sandbox commands always have it. Default: false. */
  network?: boolean;
  /** More paths that can be read in the sandbox. */
  readable?: readonly string[];
  /** In the sandbox, protects git's hooks and settings (also of submodules and linked worktrees), which git later uses outside it. Default: true. */
  protectGit?: boolean;
  /** Time limit in milliseconds when the call sets none. Default: 120,000, or `maxTimeoutMs` if that is less. */
  timeoutMs?: number;
  /** The longest time limit a call may set, in milliseconds; at least `timeoutMs`. Default: 600,000. */
  maxTimeoutMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL. Default: 500. */
  graceMs?: number;
  /** Bytes kept of each of stdout and stderr, from the beginning and the end. Default: 24,576. */
  maxOutputBytes?: number;
  /** Environment variables for commands, whatever their names: the only way to give a command a secret. */
  env?: Readonly<Record<string, string>>;
}

/** Checks of the options that all tools that run commands share. */
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

/** The check of `runCommand`'s options. */
export const runCommandOptions: Check = membersOf<RunCommandOptions>(
  { ...fileToolChecks, ...commandChecks },
  ["root"],
);
