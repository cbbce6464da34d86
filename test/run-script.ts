// How the tests run a command of the workspace's own scripts, as npm would.

import { join } from "node:path";
import { root } from "../scripts/packages.ts";
import { run } from "../scripts/run-command.ts";

/** Runs `scripts/<name>/main.ts`, and gives the lines it said and how it exited. What it said when it failed is shown. */
export async function runScript(name: string, ...args: string[]): Promise<{ code: number; lines: string[] }> {
  const main = join(root, "scripts", name, "main.ts");
  const { code, stdout, text } = await run(process.execPath, ["--conditions=rondo-source", main, ...args]);
  if (code !== 0) process.stderr.write(text);
  return { code, lines: stdout.trimEnd().split("\n") };
}
