// The room of run_command: a shell command with an end.
//
// It has no terminal and no input, so nothing waits for a human. It ends when the shell ends, when its time is up, or
// when the call is aborted; whatever it started ends with it, and who held its output open does not matter.

import { type Permission, RondoError, type Tool, tool } from "@rondo/core";
import {
  type ChecksOf,
  checkGiven,
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
import { type FileToolSet, fileToolChecks, fileToolSet } from "./options.ts";
import { counted, Refusal } from "./reasons.ts";
import { answering } from "./refusal.ts";
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
  /** Make `.git/hooks` and `.git/config` read-only in the sandbox: they act outside of it later. Default: true. */
  protectGit?: boolean;
  /** Milliseconds when the call asks for none. Default: 120,000. */
  timeoutMs?: number;
  /** The longest a call may ask for. Default: 600,000. */
  maxTimeoutMs?: number;
  /** Milliseconds between TERM and KILL. Default: 500. */
  graceMs?: number;
  /** Bytes kept of each of stdout and stderr, from both ends. Default: 24,576. */
  maxOutputBytes?: number;
  /** Set for commands, whatever their names: the one way to give a command a secret. */
  env?: Readonly<Record<string, string>>;
}

interface Args {
  command: string;
  cwd?: string;
  timeoutMs?: number;
}

/** The longest command, in bytes. */
export const maxCommandBytes = 100_000;

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

const optionChecks = membersOf<RunCommandOptions>({ ...fileToolChecks, ...commandChecks }, ["root"]);

/**
 * The tool `run_command`.
 * @throws RondoError `capability` on Windows, which has no POSIX shell
 */
export function runCommand(options: RunCommandOptions): Tool {
  checkGiven(optionChecks, options, "runCommand");
  if (process.platform === "win32")
    throw new RondoError("capability", "run_command needs a POSIX shell; on Windows run it in WSL");
  const { root } = fileToolSet(options.root);
  const usual = options.timeoutMs ?? 120_000;
  const longest = Math.max(usual, options.maxTimeoutMs ?? 600_000);
  return tool({
    name: "run_command",
    description:
      "Runs a shell command (/bin/sh -c) in the root folder and gives its output and exit code. It has no input and no " +
      "terminal. When the command ends, everything it started is ended too, background processes among them.",
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string", minLength: 1, description: "The shell command." },
        cwd: {
          type: "string",
          description: "The folder to run in, relative to the root. Default: the root.",
        },
        timeoutMs: {
          type: "integer",
          minimum: 1,
          maximum: longest,
          description: `Milliseconds until it is stopped. Default: ${usual}.`,
        },
      },
      required: ["command"],
    },
    effect: "write",
    permission: options.permission ?? "ask",
    timeoutMs: longest + 10_000,
    execute: (given, context) => {
      const { command, cwd = ".", timeoutMs = usual } = given as unknown as Args;
      return answering(
        context,
        async () => {
          if (command.includes("\0")) throw new Refusal("the command holds a NUL character");
          if (Buffer.byteLength(command) > maxCommandBytes)
            throw new Refusal(
              `the command is longer than ${counted(maxCommandBytes, "byte")}; write it to a file and run that`,
            );
          const { runIn } = await import("./running.ts");
          return runIn(root, cwd, command, Math.min(timeoutMs, longest), options, context);
        },
        cwd,
      );
    },
  });
}
