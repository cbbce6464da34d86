// The room of the classic execute_command: a shell command with a time limit, reported in four short texts.

import { constants } from "node:os";
import { type Permission, type Tool, tool, toolResult } from "@rondo/core";
import { answering } from "../answering.ts";
import { mustBeCommand, mustHaveShell } from "../command/given-command.ts";
import type { RunCommandOptions } from "../command/options.ts";
import type { Outcome } from "../command/outcome.ts";
import type { FileToolSet } from "../options.ts";
import { Refusal } from "../reasons.ts";

const usual = 30;
const longest = 3_600;

/** @throws RondoError `capability` on Windows, which has no POSIX shell */
export function executeCommand(
  { root }: FileToolSet,
  permission: Permission,
  options: Omit<RunCommandOptions, "root">,
): Tool {
  mustHaveShell("execute_command");
  return tool({
    name: "execute_command",
    description:
      "Runs a shell command in the root folder and returns its output, and its exit code unless that is 0.",
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string", minLength: 1, description: "The shell command." },
        timeout: {
          type: "number",
          exclusiveMinimum: 0,
          maximum: longest,
          description: `Time limit in seconds. Default: ${usual}.`,
        },
      },
      required: ["command"],
    },
    effect: "write",
    permission,
    shellArgs: ["command"],
    timeoutMs: longest * 1_000 + 10_000,
    execute: ({ command, timeout = usual }, context) =>
      answering(context, "", async () => {
        mustBeCommand(command);
        const { outcomeIn } = await import("../command/running.ts");
        const asked = { command, root, cwd: ".", timeoutMs: timeout * 1_000 };
        const outcome = await outcomeIn(asked, options, context);
        if (outcome.timedOutMs !== undefined) throw new Refusal(`Command timed out after ${timeout} seconds`);
        return toolResult(told(outcome));
      }),
  });
}

function told({ stdout, stderr, code, signal }: Outcome): string {
  // A shell killed by a signal gets that signal's number, negated.
  const exit = code ?? (signal === null ? 0 : -constants.signals[signal]);
  const pieces = [
    ...(stdout === "" ? [] : [`[stdout]\n${stdout.replace(/\n$/, "")}`]),
    ...(stderr === "" ? [] : [`[stderr]\n${stderr.replace(/\n$/, "")}`]),
    ...(exit === 0 ? [] : [`[exit code: ${exit}]`]),
  ];
  return pieces.length === 0 ? "[Command completed with no output]" : pieces.join("\n");
}
