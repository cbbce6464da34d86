// The room of the plan: which program runs a command, with which arguments, environment and confinement.

import { randomUUID } from "node:crypto";
import { delimiter, dirname } from "node:path";
import type { Root } from "../paths/root.ts";
import { Refusal } from "../reasons.ts";
import { commandEnv } from "./env.ts";
import { type GitGuard, gitGuard } from "./git-guard.ts";
import type { RunCommandOptions } from "./options.ts";
import { findSandbox, probe, type Sandbox, sandboxArgs, sandboxHome, usualPath } from "./sandbox.ts";

export type CommandOptions = Omit<RunCommandOptions, "root">;

/** A command, and the folder to run it in. */
interface Placed {
  command: string;
  root: Root;
  /** Absolute, under the root. */
  folder: string;
}

export interface Plan {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** The marker in the environment of everything it starts. */
  mark: string;
  /** How it is confined, for the result. */
  confined: string;
  git?: GitGuard | undefined;
}

/** @throws Refusal when a sandbox is required and there is none */
export async function planOf({ command, root, folder: cwd }: Placed, options: CommandOptions): Promise<Plan> {
  const mode = options.sandbox ?? "auto";
  const network = options.network ?? false;
  const shell = ["/bin/sh", "-c", command];
  const mark = randomUUID();
  const sandbox: Sandbox =
    mode === "off"
      ? { missing: "switched off" }
      : root.real === "/"
        ? { missing: "the root is the whole file system" }
        : await sandboxFor(options);
  if ("missing" in sandbox) {
    if (mode === "require")
      throw new Refusal(
        `the command was not run: a sandbox is required and there is none (${sandbox.missing})`,
      );
    return {
      program: shell[0]!,
      args: shell.slice(1),
      cwd,
      env: commandEnv(process.env, mark, options.env ?? {}),
      mark,
      confined: `not sandboxed: ${sandbox.missing}`,
    };
  }
  const git = (options.protectGit ?? true) ? gitGuard(root.real) : undefined;
  const settings = { root: root.real, network, readable: options.readable ?? [], git };
  const env = commandEnv(process.env, mark, { HOME: sandboxHome(root.real), TMPDIR: "/tmp", ...options.env });
  const node = dirname(process.execPath);
  if (!(env.PATH ?? "").split(delimiter).includes(node))
    env.PATH = `${env.PATH ?? usualPath}${delimiter}${node}`;
  return {
    program: sandbox.program,
    args: sandboxArgs(sandbox, settings, cwd, shell),
    cwd,
    env,
    mark,
    confined: `sandboxed by bubblewrap, ${network ? "with" : "without"} network`,
    git,
  };
}

/** A PATH in the `env` option decides where bubblewrap is looked for. */
function sandboxFor(options: CommandOptions): Promise<Sandbox> {
  const path = options.env?.PATH;
  return path === undefined ? findSandbox() : probe(path);
}
