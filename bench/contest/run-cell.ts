// The room of running a cell: runs one subject on one scenario in a fresh process, and checks its work.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expectedOf, type Plan, plans, type ToolPlan } from "./plan.ts";
import type { ContestServer, Sent } from "./server.ts";
import type { Subject } from "./subjects.ts";

/** The input of `cell.mjs`. */
interface Work {
  /** URL of the subject's file. */
  subject: string;
  scenario: string;
  /** The base URL before a protocol's path. */
  base: string;
  system: string;
  tools: ToolPlan[];
  maxSteps: number;
  agents: number;
  cold: boolean;
  /** Where to write the report. */
  report: string;
}

/** The report of a cell. */
export interface Did {
  /** Milliseconds: processor time (user and system), the main thread's share of it, and wall time. */
  cpu: number;
  main: number;
  wall: number;
  /** Peak resident memory, kilobytes. */
  rss: number;
  executed: number;
  argued: number;
  agents: { text: string; heard: number }[];
}

export interface Measured {
  cpu: number;
  main: number;
  wall: number;
  rss: number;
}

/** A subject did other work than planned, or none; the message says what differs. */
export class OtherWork extends Error {
  override readonly name: string = "OtherWork";
}

const cellFile = fileURLToPath(new URL("../cell.mjs", import.meta.url));
let cells = 0;

/** How a cell's process is started. */
export interface CellStart {
  /** E.g. `--cpu-prof`. */
  nodeFlags?: readonly string[];
  /** A command, with arguments, under which to run the cell (e.g. Valgrind). Default: none. */
  under?: readonly string[];
  /** A subject that takes longer is stopped, and reported. Milliseconds; the floors need seconds. Default: 120,000. */
  limitMs?: number;
}

/**
 * Runs a cell.
 * @throws OtherWork when the subject did not do what the plan says
 */
export async function runCell(
  server: ContestServer,
  scenario: string,
  subject: Subject,
  how: CellStart = {},
): Promise<Measured> {
  const plan = plans[scenario];
  if (plan === undefined) throw new Error(`there is no scenario ${scenario}`);
  const cell = `cell${++cells}`;
  const onWire = subject.protocol !== "none";
  if (onWire) await fetch(`${server.url}/prepare/${scenario}/${subject.protocol}`);
  const did = await start(
    {
      subject: new URL(subject.file, import.meta.url).href,
      scenario,
      base: `${server.url}/${scenario}/${subject.protocol}/${cell}`,
      system: plan.system,
      tools: plan.tools,
      maxSteps: plan.turns.length + 1,
      agents: plan.agents,
      cold: plan.cold,
    },
    how,
  );
  const wrong = wrongWith(plan, did, onWire ? await server.report(cell) : undefined);
  if (wrong !== undefined) throw new OtherWork(wrong);
  return { cpu: did.cpu, main: did.main, wall: did.wall, rss: did.rss };
}

async function start(
  given: Omit<Work, "report">,
  { nodeFlags = [], under = [], limitMs = 120_000 }: CellStart,
): Promise<Did> {
  const folder = mkdtempSync(join(tmpdir(), "rondo-cell-"));
  try {
    const file = join(folder, "work.json");
    const work: Work = { ...given, report: join(folder, "did.json") };
    writeFileSync(file, JSON.stringify(work));
    const [command = "", ...args] = [...under, process.execPath, ...nodeFlags, cellFile, file];
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitMs,
      killSignal: "SIGKILL",
      // Peers read keys and settings from the environment, and some would send telemetry.
      env: { PATH: process.env.PATH, HOME: folder, NODE_ENV: "production", ...quiet },
    });
    const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => resolve({ code, signal }));
    });
    const [out, err, { code, signal }] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (child.killed) throw new OtherWork(`it was stopped after ${limitMs / 1000} s`);
    const said = firstWords(err) || firstWords(out);
    if (signal !== null) throw new OtherWork(`it fell by ${signal}: ${said}`);
    if (code !== 0 || !existsSync(work.report)) throw new OtherWork(`it ended with ${code}: ${said}`);
    return JSON.parse(readFileSync(work.report, "utf8")) as Did;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Turns the peers' telemetry off. */
const quiet = {
  MASTRA_TELEMETRY_DISABLED: "1",
  OPENAI_AGENTS_DISABLE_TRACING: "1",
  LANGCHAIN_TRACING_V2: "false",
  LANGSMITH_TRACING: "false",
  OTEL_SDK_DISABLED: "true",
};

const firstWords = (said: string): string =>
  said
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^\w*error\b|^\[?\w+error|\d{3} /i.test(line))
    .slice(0, 2)
    .join(" ")
    .slice(0, 300);

/** What is wrong with the work, or undefined. `sent` is what the server received; absent without a wire. */
export function wrongWith(
  plan: Plan,
  did: Did,
  sent: Readonly<Record<string, Sent>> | undefined,
): string | undefined {
  const expected = expectedOf(plan.turns);
  const { agents } = plan;
  if (did.agents.length !== agents) return `${did.agents.length} agents ended instead of ${agents}`;
  if (did.executed !== expected.executed * agents)
    return `tools ran ${did.executed} times instead of ${expected.executed * agents}`;
  if (did.argued !== expected.argued * agents)
    return `tools were given ${did.argued} characters of arguments instead of ${expected.argued * agents}`;
  for (const { text, heard } of did.agents) {
    if (text !== expected.text)
      return `the last answer was ${JSON.stringify(text?.slice(0, 60))} (${text?.length} characters) instead of ${JSON.stringify(expected.text.slice(0, 60))} (${expected.text.length})`;
    if (heard !== expected.heard)
      return `the listener heard ${heard} characters of text instead of ${expected.heard}`;
  }
  if (sent === undefined) return undefined;
  for (let number = 1; number <= agents; number += 1) {
    const one = sent[number];
    if (one === undefined) return `the server saw no request of agent ${number}`;
    if (one.requests !== expected.requests)
      return `the server saw ${one.requests} requests instead of ${expected.requests}`;
    if (!one.streamed) return "no stream was asked for";
    if (one.tools !== plan.tools.length)
      return `${one.tools} tools were declared instead of ${plan.tools.length}`;
    if (one.results.length !== expected.results.length)
      return `the last request carried ${one.results.length} tool results instead of ${expected.results.length}`;
    const at = expected.results.findIndex((result, index) => !(one.results[index] ?? "").includes(result));
    if (at !== -1)
      return `result ${at + 1} in the last request was ${JSON.stringify(one.results[at]?.slice(0, 80))}`;
  }
  return undefined;
}
