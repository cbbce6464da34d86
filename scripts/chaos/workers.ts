// The room of workers: starts processes with orders, receives their reports, and kills them.

import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { hearLines } from "../spoken-lines.ts";
import type { Orders, Word } from "./words.ts";

/** How a worker ended. */
export interface Ended {
  /** It completed its orders. */
  whole: boolean;
  killed: boolean;
  /** Its stderr. */
  errors: string;
}

export interface Worker {
  readonly ended: Promise<Ended>;
  /** SIGKILL. */
  kill(): void;
}

export function work(program: string, orders: Orders, hear: (word: Word) => void): Worker {
  const child = spawn(
    process.execPath,
    [
      "--conditions=rondo-source",
      "--disable-warning=ExperimentalWarning",
      "--expose-gc",
      "--enable-source-maps",
      program,
      JSON.stringify(orders),
    ],
    { stdio: ["ignore", "ignore", "pipe", "pipe"] },
  );
  let whole = false;
  let errors = "";
  hearLines(child.stdio[3] as Socket, (line) => {
    const word = JSON.parse(line) as Word;
    if (word.say === "end") whole = true;
    hear(word);
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    errors = (errors + chunk).slice(-4_000);
  });
  return {
    ended: new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (_code, signal) => resolve({ whole, killed: signal === "SIGKILL", errors }));
    }),
    kill: () => void child.kill("SIGKILL"),
  };
}
