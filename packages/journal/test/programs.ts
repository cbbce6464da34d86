// The room of other processes: programs that open a journal on their own, started by tests.

import { type ChildProcessByStdio, type SpawnOptions, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { withPackages } from "../../../scripts/built.ts";

export type Program = ChildProcessByStdio<Writable, Readable, Readable>;

/** The arguments for Node that run a program of `programs/`. */
export function programArgs(name: string, args: readonly string[]): string[] {
  const path = fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url));
  return [...withPackages, path, ...args];
}

export function start(name: string, args: readonly string[], options: SpawnOptions = {}): Program {
  return spawn(process.execPath, programArgs(name, args), { ...options, stdio: ["pipe", "pipe", "pipe"] });
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Waits for its end. `onLine` sees each line of its output as it comes. */
export async function ended(program: Program, onLine: (line: string) => void = () => {}): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  program.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  createInterface({ input: program.stdout }).on("line", (line) => {
    stdout += `${line}\n`;
    onLine(line);
  });
  return new Promise((resolve, reject) => {
    program.once("error", reject);
    program.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
