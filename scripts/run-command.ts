// The room of child processes: how a script runs a command and learns what came of it.
//
// A command runs in a process group of its own, so that a time-out ends all that it started, not only its first process.

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { root } from "./packages.ts";

/** The exit code of a command whose time ran out, as `timeout` has it. */
export const timedOut = 124;

export interface Outcome {
  /** The exit code; `timedOut`, or 127 when the command could not start. */
  code: number;
  /** Standard output alone. Empty when `show`. */
  stdout: string;
  /** Standard output and standard error, as they came. Empty when `show`. */
  text: string;
}

export interface RunOptions {
  /** Default: the workspace's root. */
  cwd?: string;
  /** Added to this process's environment; `undefined` removes. */
  env?: Record<string, string | undefined>;
  /** Milliseconds. Default: 15 minutes. */
  timeoutMs?: number;
  /** Lets the command write to the terminal directly. */
  show?: boolean;
}

/** Runs a command; never rejects. The workspace's own tools and its own Node come first in PATH. */
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
      // It ended by itself meanwhile.
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

/** As `run`, but throws with all the command printed when it fails. */
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
