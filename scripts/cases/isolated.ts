// The room of isolation: plays a case in a process of its own, so that measurements of the process concern only the case.

import { spawn } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { withPackages } from "../built.ts";
import type { Case } from "./format.ts";
import type { Observation } from "./observation.ts";
import { type Left, playAndLeave } from "./play.ts";
import { isTable, playTable } from "./tables.ts";
import type { Chunking } from "./wire.ts";

const program = fileURLToPath(new URL("./isolated-main.ts", import.meta.url));

/** How often a case that used too much CPU is played again: beside other work the same program costs more, never less. */
const moreTries = 2;

/** Plays a case in a process of its own. */
export async function measured(one: Case, chunking: Chunking): Promise<Observation> {
  const most = one.expect.max_cpu_ms;
  let seen = await playedApart(one, chunking);
  for (let tries = 0; tries < moreTries && Number(seen.process?.cpuMs) > Number(most ?? Infinity); tries += 1)
    seen = await playedApart(one, chunking);
  return seen;
}

async function playedApart(one: Case, chunking: Chunking): Promise<Observation> {
  const child = spawn(
    process.execPath,
    [...withPackages, "--disable-warning=ExperimentalWarning", "--expose-gc", program],
    { stdio: ["pipe", "pipe", "pipe"] },
  );
  const out: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => out.push(piece));
  child.stderr.on("data", (piece: Buffer) => errors.push(piece));
  child.stdin.end(JSON.stringify({ one, chunking }));
  const exitCode = await new Promise<number>((resolve) => {
    child.on("close", (code) => resolve(code ?? 1));
  });
  try {
    const seen = JSON.parse(Buffer.concat(out).toString()) as Observation;
    if (seen.process !== undefined) seen.process.exitCode = exitCode;
    return seen;
  } catch {
    const broke = `its process ended with ${exitCode}: ${Buffer.concat(errors).toString().slice(0, 2000)}`;
    return { responses: [], runs: [], history: [], said: [], second: [], sinks: [], files: {}, broke };
  }
}

/** Inside that process: plays the case and measures it. */
export async function measure(one: Case, chunking: Chunking): Promise<Observation> {
  let unhandledRejections = 0;
  const warnings: string[] = [];
  process.on("unhandledRejection", () => {
    unhandledRejections += 1;
  });
  process.on("warning", (warning) => warnings.push(`${warning.name}: ${warning.message}`));
  // A first play loads everything needed: a case is about the cost of reading, not of stripping types.
  if (asksFor(one, "max_cpu_ms")) await left(one, chunking);
  const timersBefore = timersOf();
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  let heapMost = heapBefore;
  // Often enough to see a queue grow; after a garbage collection, because garbage is not growth.
  const sampling = setInterval(() => {
    globalThis.gc?.();
    heapMost = Math.max(heapMost, process.memoryUsage().heapUsed);
  }, 250);
  if (!asksFor(one, "max_heap_growth_mb")) clearInterval(sampling);
  const cpu = process.cpuUsage();
  const { seen, timers, listeners, folder } = await left(one, chunking);
  const spent = process.cpuUsage(cpu);
  clearInterval(sampling);
  // Give released connections a moment to close, and processes that ignore SIGTERM the time until their SIGKILL.
  await passed(400);
  for (let waited = 400; leftProcesses(folder) > 0 && waited < mostWaited; waited += 50) await passed(50);
  return {
    ...seen,
    process: {
      unhandledRejections,
      activeTimers: timers + Math.max(0, timersOf() - timersBefore),
      abortListeners: listeners,
      childProcesses: leftProcesses(folder),
      warnings,
      exitCode: 0,
      cpuMs: (spent.user + spent.system) / 1000,
      heapGrowthMb: (heapMost - heapBefore) / 2 ** 20,
    },
  };
}

/** How long processes of the play may take to end, in milliseconds of real time. */
const mostWaited = 1_500;

const passed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const asksFor = (one: Case, member: "max_cpu_ms" | "max_heap_growth_mb"): boolean =>
  [one.expect, one.final_expect].some((part) => part?.[member] !== undefined);

/** A table has no stage that could leave something behind. */
const left = async (one: Case, chunking: Chunking): Promise<Left> =>
  isTable(one)
    ? { seen: await playTable(one), timers: 0, listeners: 0, folder: "" }
    : playAndLeave(one, { chunking });

/** Processes that still work in a folder of the play, wherever they are in the process tree. */
function leftProcesses(folder: string): number {
  if (process.platform !== "linux" || folder === "") return 0;
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      // It has ended, or belongs to another user.
      return false;
    }
  }).length;
}

const timersOf = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
