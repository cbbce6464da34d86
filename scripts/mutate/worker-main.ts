// The room of the worker process: runs tests with a mutant active. Started by the campaign with the path of its order.
//
// If a mutant left something behind, the next one would be blamed for it. So a test that killed is run again without the
// mutant: if it still fails, the process reports that and ends, and the campaign continues in a new one. A mutant that
// may have left work running ends the process as well.

import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { hookLoading } from "./hooks.ts";
import type { Order, Said, TestFacts, Trial, Verdict } from "./orders.ts";
import { installSwitches, switches } from "./switches.ts";
import type { CollectedTest } from "./vitest-face.ts";

type Came = "passed" | "failed" | "stuck" | "late";

const order = JSON.parse(readFileSync(process.argv[2] as string, "utf8")) as Order;
/** How long a test may take beyond ten times its normal time, in milliseconds. */
const patienceMs = 4_000;

function say(said: Said): void {
  const bytes = Buffer.from(`${JSON.stringify(said)}\n`);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(3, bytes, at);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EAGAIN") throw thrown;
    }
  }
}

/** Called when a test waits although nothing more can happen. */
let stuck: (() => void) | undefined;
process.on("beforeExit", () => {
  if (stuck !== undefined) setImmediate(stuck);
});
// An unfinished promise fails its own test if it matters; it must not fail another one.
process.on("unhandledRejection", () => {});
process.on("uncaughtException", () => {});

let why = "";

async function attempt(test: CollectedTest, ms: number): Promise<Came> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<Came>((resolve) => {
    stuck = () => resolve("stuck");
    timer = setTimeout(() => resolve("late"), patienceMs + 10 * ms).unref();
  });
  const came = await Promise.race([
    silence,
    test.body().then(
      (): Came => "passed",
      (thrown): Came => {
        why = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
        return "failed";
      },
    ),
  ]);
  clearTimeout(timer);
  stuck = undefined;
  return came;
}

const loaded = new Map<string, Promise<Map<string, CollectedTest>>>();

async function testsOf(file: string): Promise<Map<string, CollectedTest>> {
  let mine = loaded.get(file);
  if (mine === undefined) {
    mine = (async () => {
      const { collect } = await import("./vitest-face.ts");
      const tests = await collect(file, () => import(pathToFileURL(file).href));
      return new Map(tests.map((test) => [test.id, test]));
    })();
    loaded.set(file, mine);
  }
  return mine;
}

/** Runs every test once, and records which mutants it reaches. */
async function look(files: readonly string[]): Promise<void> {
  for (const file of files) {
    switches.met = new Map();
    const tests = await testsOf(file);
    say({ said: "met", test: "", mutants: [...switches.met] });
    for (const test of tests.values()) {
      const met: Map<string, number> = new Map();
      switches.met = met;
      switches.asked = 0;
      const began = performance.now();
      const ok = (await attempt(test, 60_000)) === "passed";
      const ms = performance.now() - began;
      switches.met = undefined;
      say({ said: "test", id: test.id, file, ms, asked: switches.asked, ok, ...(ok ? {} : { why }) });
      if (ok) say({ said: "met", test: test.id, mutants: [...met] });
    }
  }
}

const kills = new Map<string, number>(Object.entries(order.do === "try" ? order.kills : {}));
/** The tests that killed last, latest first: neighbouring mutants are often killed by the same test. */
let latest: string[] = [];

function inOrder(ids: readonly string[], facts: { readonly [id: string]: TestFacts }): string[] {
  const recent = new Set(latest.slice(0, 5));
  const cost = (id: string): number => ((facts[id]?.ms ?? 0) + 0.5) / (1 + 3 * (kills.get(id) ?? 0));
  const known = new Map(ids.map((id) => [id, cost(id)]));
  const rest = ids.filter((id) => !recent.has(id));
  const mine = new Set(ids);
  const first = latest.slice(0, 5).filter((id) => mine.has(id));
  return [...first, ...rest.sort((a, b) => (known.get(a) as number) - (known.get(b) as number))];
}

/** @returns whether the next mutant may be tried in this process */
async function tryOne(trial: Trial, facts: { readonly [id: string]: TestFacts }): Promise<boolean> {
  say({ said: "trying", id: trial.id });
  let told = performance.now();
  let ran = 0;
  const judged = (verdict: Verdict, test?: string): void =>
    say({ said: "verdict", id: trial.id, verdict, ran, ...(test === undefined ? {} : { test }) });
  const limits = new Map(trial.tests.map((id, at) => [id, trial.limits[at] as number]));
  for (const id of inOrder(trial.tests, facts)) {
    const { file, ms, asked } = facts[id] as TestFacts;
    if (performance.now() - told > 1_000) {
      told = performance.now();
      say({ said: "alive" });
    }
    const test = await testOf(id, file, trial);
    if ("gone" in test) {
      judged("killed", test.gone);
      return false;
    }
    ran += 1;
    const { came, overrun } = await attemptWith(trial, test, ms, limits.get(id) as number, asked);
    if (came === "passed" && !overrun) continue;
    kills.set(id, (kills.get(id) ?? 0) + 1);
    latest = [id, ...latest.filter((one) => one !== id)].slice(0, 20);
    if (came === "late" || trial.fromTheStart) {
      judged(overrun || came !== "failed" ? "hung" : "killed", id);
      return false;
    }
    const again = await attempt(test, ms);
    if (again !== "passed" && !trial.fresh) return false;
    judged(came === "stuck" || overrun ? "hung" : "killed", id);
    return again === "passed";
  }
  judged("survived");
  return !trial.fromTheStart;
}

/** The test with an id; with a mutant active from the start, it may be missing or fail to load. */
async function testOf(id: string, file: string, trial: Trial): Promise<CollectedTest | { gone: string }> {
  let test: CollectedTest | undefined;
  try {
    test = (await testsOf(file)).get(id);
  } catch (thrown) {
    if (!trial.fromTheStart) throw thrown;
    return { gone: file };
  }
  if (test !== undefined) return test;
  if (!trial.fromTheStart) throw new Error(`there is no test ${id}`);
  return { gone: id };
}

/** Runs a test with the mutant active. @param limit how often it may be reached @param asked how often the test evaluates switches without it */
async function attemptWith(
  trial: Trial,
  test: CollectedTest,
  ms: number,
  limit: number,
  asked: number,
): Promise<{ came: Came; overrun: boolean }> {
  switches.on = trial.id;
  switches.left = limit;
  switches.overrun = false;
  switches.asked = 0;
  switches.fuel = 20_000 + 10 * asked;
  const came = await attempt(test, ms);
  if (!trial.fromTheStart) switches.on = "";
  const { overrun } = switches;
  switches.fuel = Number.POSITIVE_INFINITY;
  return { came, overrun };
}

async function main(): Promise<void> {
  installSwitches();
  if (order.do === "try" && order.mutants[0]?.fromTheStart) {
    switches.on = order.mutants[0].id;
    switches.left = 1_000_000;
  }
  hookLoading(order.places);
  // One counterexample is enough; no shrinking.
  const { default: fc } = await import("../../test/seeded.ts");
  fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
  if (order.do === "look") await look(order.files);
  else
    for (const trial of order.mutants)
      if (!(await tryOne(trial, order.tests))) {
        say({ said: "stained" });
        process.exit(0);
      }
  say({ said: "done" });
  process.exit(0);
}

main().catch((thrown: unknown) => {
  console.error(thrown);
  process.exit(1);
});
