// The room of lives: real processes that continue a run one after another, and are killed.

import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { hearLines } from "../spoken-lines.ts";
import type { LifeOrders, Word } from "./wire.ts";

/** When to kill a life. Boundaries count from 0 in each life; a delay counts from when its code is loaded. */
export type Death = { at: "boundary"; number: number } | { at: "instant"; ms: number } | undefined;

/** What one life reported, and how it ended. */
export interface Lived {
  words: Word[];
  /** It was ended by SIGKILL. */
  killed: boolean;
  /** The run ended. */
  ended: boolean;
  /** Its stderr, when neither happened. */
  errors: string;
  /** Milliseconds since its code was loaded. */
  ms: number;
}

/** Runs one life. @param program the life's code @param deadlineMs a life that takes longer hangs, and is ended */
export function live(
  program: string,
  orders: LifeOrders,
  death: Death,
  deadlineMs: number = 60_000,
): Promise<Lived> {
  const child = spawn(
    process.execPath,
    ["--conditions=rondo-source", "--disable-warning=ExperimentalWarning", program, JSON.stringify(orders)],
    { stdio: ["ignore", "ignore", "pipe", "pipe"] },
  );
  const line = child.stdio[3] as Socket;
  const words: Word[] = [];
  let errors = "";
  let upAt = 0;
  let hung = false;
  const kill = (): void => void child.kill("SIGKILL");
  const guard = setTimeout(() => {
    hung = true;
    kill();
  }, deadlineMs);
  let killing: NodeJS.Timeout | undefined;
  let boundaries = 0;
  hearLines(line, (text) => {
    const word = JSON.parse(text) as Word;
    words.push(word);
    if (word.say === "up") {
      upAt = performance.now();
      if (death?.at === "instant") killing = setTimeout(kill, death.ms);
    }
    if (word.say !== "at" || !orders.waits) return;
    const number = boundaries++;
    if (death?.at === "boundary" && death.number === number) kill();
    else line.write(".");
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (_code, signal) => {
      clearTimeout(guard);
      clearTimeout(killing);
      resolve({
        words,
        killed: signal === "SIGKILL" && !hung,
        ended: words.some((word) => word.say === "end"),
        errors: hung ? `it hung for ${deadlineMs} ms: ${errors}` : errors,
        ms: performance.now() - upAt,
      });
    });
  });
}
