// The room of child processes: runs a command for a script, and returns its outcome.
//
// The command gets its own process group, so that a timeout ends everything it started, not only its first process.

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { root } from "./packages.ts";

/** The exit code of a command that timed out, as in `timeout`. */
export const timedOut = 124;

export interface Outcome {
  /** The exit code; `timedOut` after a timeout, 127 when the command could not start. */
  code: number;
  /** Only stdout. Empty with `show`. */
  stdout: string;
  /** stdout and stderr, interleaved as they came. Empty with `show`. */
  text: string;
}

export interface RunOptions {
  /** Working directory. Default: the workspace's root. */
  cwd?: string;
  /** Added to this process's environment; `undefined` removes a variable. */
  env?: Record<string, string | undefined>;
  /** Timeout in milliseconds. Default: 15 minutes. */
  timeoutMs?: number;
  /** Lets the command write directly to the terminal. */
  show?: boolean;
}

/** Runs a command; never rejects. The workspace's tools and Node come first in PATH. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const path = `${join(root, "node_modules", ".bin")}${delimiter}${process.env.PATH ?? ""}`;
  const group = process.platform !== "win32";
  const child = spawn(command, args, {
    cwd: options.cwd ?? root,
    env: { ...process.env, PATH: path, ...options.env },
    stdio: options.show ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
    detached: group,
    shell: !group,
  });
  const outcome: Outcome = { code: 127, stdout: "", text: "" };
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    outcome.stdout += chunk;
    outcome.text += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    outcome.text += chunk;
  });
  const end = (signal: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(group ? -child.pid : child.pid, signal);
    } catch {
      // It has already ended by itself.
    }
  };
  const interrupted = (signal: NodeJS.Signals): void => {
    end("SIGTERM");
    process.exit(128 + constants.signals[signal]);
  };
  process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
  const timeoutMs = options.timeoutMs ?? 15 * 60_000;
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    end("SIGKILL");
  }, timeoutMs);
  return new Promise((resolve) => {
    const settle = (code: number): void => {
      clearTimeout(timer);
      process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
      resolve({ ...outcome, code });
    };
    child.on("error", (error) => {
      outcome.text += `${command} could not start: ${error.message}\n`;
      settle(127);
    });
    child.on("close", (code) => {
      if (late) outcome.text += `\n${command} was ended after ${timeoutMs / 1000} s\n`;
      settle(late ? timedOut : (code ?? 1));
    });
  });
}

/** Like `run`, but throws with the command's full output when it fails. */
export async function mustRun(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const outcome = await run(command, args, options);
  if (outcome.code !== 0)
    throw new Error(`${command} ${args.join(" ")} exited with ${outcome.code}\n${outcome.text}`);
  return outcome;
}
