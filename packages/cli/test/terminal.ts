// The command on a real terminal: `script` of util-linux makes one, we type and read.

import { spawn, spawnSync } from "node:child_process";
import { mind, nodeArgs, type Place } from "./command.ts";

/** Why there is no terminal to test on, or undefined when there is one. */
export function whyNoTerminal(): string | undefined {
  const { stdout, error } = spawnSync("script", ["--version"], { encoding: "utf8" });
  if (error !== undefined) return `there is no \`script\` (${error.message})`;
  return stdout.includes("util-linux") ? undefined : "this `script` is not that of util-linux";
}

export interface Terminal {
  type(text: string): void;
  /** The terminal goes away, as when its window is closed. */
  hangUp(): void;
  /** Resolves once the text has been shown after everything that was awaited before. */
  shows(text: string): Promise<void>;
  /** The exit code, and all that was shown. */
  outcome: Promise<{ code: number | null; screen: string }>;
}

/** Runs `rondo run` with a mind on a terminal. */
export function onTerminal(
  at: Place,
  name: string,
  options: readonly string[] = [],
  env: { readonly [name: string]: string } = {},
): Terminal {
  return terminalOf(at, ["run", "--model", mind, ...options, "do it"], { MIND: name, ...env });
}

/** Runs the command with these words on a terminal. */
export function terminalOf(
  at: Place,
  args: readonly string[],
  env: { readonly [name: string]: string },
): Terminal {
  const words = [process.execPath, ...nodeArgs, ...args];
  const command = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd: at.root,
    env: { ...at.env, TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let screen = "";
  let from = 0;
  const heard = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    screen += piece;
    for (const tell of heard) tell();
  });
  const outcome = new Promise<{ code: number | null; screen: string }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, screen }));
  });
  return {
    type: (text) => child.stdin.write(text),
    hangUp: () => child.kill("SIGKILL"),
    outcome,
    shows: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const at = screen.indexOf(text, from);
          if (at === -1) return;
          from = at + text.length;
          heard.delete(look);
          resolve();
        };
        heard.add(look);
        look();
        void outcome.then(() => reject(new Error(`it ended without showing ${text}: ${screen}`)));
      }),
  };
}
