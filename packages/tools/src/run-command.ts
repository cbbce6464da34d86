// The room of run_command: a shell command that is guaranteed to end.
//
// It has no terminal and no stdin, so nothing waits for a person. It ends when the shell exits, at its time limit, or
// when the call is aborted; everything it started ends with it, even processes that still hold its output open.

import { type Tool, tool } from "@rondo/core";
import { checkGiven } from "@rondo/core/checks";
import { answering } from "./answering.ts";
import { mustBeCommand, mustHaveShell } from "./command/given-command.ts";
import { type RunCommandOptions, runCommandOptions } from "./command/options.ts";
import { fileToolSet } from "./options.ts";
import { Refusal } from "./reasons.ts";

/**
 * The tool `run_command`.
 * @throws RondoError `capability` on Windows, which has no POSIX shell
 */
export function runCommand(options: RunCommandOptions): Tool {
  checkGiven(runCommandOptions, options, "runCommand");
  mustHaveShell("run_command");
  const { root } = fileToolSet(options.root);
  const { maxTimeoutMs = 600_000, timeoutMs: usual = Math.min(120_000, maxTimeoutMs) } = options;
  const longest = Math.max(usual, maxTimeoutMs);
  return tool({
    name: "run_command",
    description:
      "Runs a shell command (/bin/sh -c, so without {a,b}, [[ ]] and &>; for these use bash -c) in the root folder and " +
      "returns its output and exit code. It has no stdin and no terminal. When the command ends, everything it started is ended too, including background processes.",
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
          description: `Time limit in milliseconds. Default: ${usual}.`,
        },
      },
      required: ["command"],
    },
    effect: "write",
    permission: options.permission ?? "ask",
    shellArgs: ["command"],
    timeoutMs: longest + 10_000,
    execute: ({ command, cwd = ".", timeoutMs = usual }, context) =>
      answering(context, cwd, async () => {
        if (command.trim() === "") throw new Refusal("the command is blank; say what to run");
        mustBeCommand(command);
        const { runIn } = await import("./command/running.ts");
        return runIn({ command, root, cwd, timeoutMs: Math.min(timeoutMs, longest) }, options, context);
      }),
  });
}
