// The command as a process of its own, in folders of its own, with nothing of this machine's environment but the path,
// and where compiled code is kept.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LogRecord, RondoEvent } from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { onTestFinished } from "vitest";
import { isBuilt, withPackages } from "../../../scripts/built.ts";

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
export const mind: string = file("./programs/mind.ts");
/** The command as it is published where `npm test` has just built it, as its sources elsewhere. */
export const nodeArgs: readonly string[] = [
  ...withPackages,
  file(isBuilt ? "../dist/main.js" : "../src/main.ts"),
];

export interface Place {
  /** The folder the agent works in. */
  root: string;
  journal: string;
  env: { [name: string]: string };
}

/** A folder to work in and a home, both gone after the test. */
export function place(env: { readonly [name: string]: string } = {}): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "rondo-cli-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = realpathSync(mkdtempSync(join(base, "work-")));
  return {
    root,
    journal: join(base, "state", "rondo", "runs.db"),
    env: {
      PATH: process.env.PATH ?? "",
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
      // No model server on the machine of the test may have a say.
      RONDO_LOCAL: "off",
      HOME: join(base, "home"),
      XDG_STATE_HOME: join(base, "state"),
      ...env,
    },
  };
}

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  child: ChildProcess;
  outcome: Promise<Outcome>;
  /** Resolves once stdout holds the text; rejects when the process ends without it. */
  says(text: string): Promise<void>;
}

/** Starts the command. */
export function start(
  at: Place,
  args: readonly string[],
  env: { readonly [name: string]: string } = {},
  stdin: "ignore" | "pipe" = "ignore",
): Started {
  const child = spawn(process.execPath, [...nodeArgs, ...args], {
    cwd: at.root,
    env: { ...at.env, ...env },
    stdio: [stdin, "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  const heard = new Set<() => void>();
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    stdout += piece;
    for (const tell of heard) tell();
  });
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
  });
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const says = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!stdout.includes(text)) return;
        heard.delete(look);
        resolve();
      };
      heard.add(look);
      look();
      void outcome.then(() => reject(new Error(`it ended without saying ${text}: ${stdout}\n${stderr}`)));
    });
  return { child, outcome, says };
}

/** Runs the command to its end, with the named mind where a model is needed. */
export async function rondo(
  at: Place,
  args: readonly string[],
  env: { readonly [name: string]: string } = {},
): Promise<Outcome> {
  return await start(at, args, env).outcome;
}

/** `rondo run` with a mind. */
export function runWith(at: Place, name: string, args: readonly string[] = ["do it"]): Promise<Outcome> {
  return rondo(at, ["run", "--model", mind, ...args], { MIND: name });
}

export function eventsOf({ stdout }: Outcome): RondoEvent[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as RondoEvent);
}

/** The records of the newest session of the place's journal. */
export function newestRecords(at: Place): { id: string; records: LogRecord[] } {
  const journal = sqliteJournal(at.journal);
  try {
    const [newest] = journal.list();
    if (newest === undefined) throw new Error("the journal is empty");
    return { id: newest.id, records: journal.read(newest.id) };
  } finally {
    journal.close();
  }
}
