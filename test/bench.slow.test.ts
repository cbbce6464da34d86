// The bench measures work that was done: a subject that did other work is found out, and a bound without figures is not kept.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contest, type Figure } from "../bench/contest/contest.ts";
import { count, countedIn } from "../bench/contest/instructions.ts";
import { expectedOf, type Plan, plans } from "../bench/contest/plan.ts";
import { plot } from "../bench/contest/plot.ts";
import { type Did, runCell, wrongWith } from "../bench/contest/run-cell.ts";
import { type ContestServer, type Sent, startContestServer } from "../bench/contest/server.ts";
import { fromSources, type Subject, subjectNamed, subjects } from "../bench/contest/subjects.ts";
import { type Outcome, streaming, verdictOf } from "../bench/contest/verdict.ts";

/** The workspace's sources, for there may be no build. */
const nodeFlags = ["--conditions=rondo-source", "--disable-warning=ExperimentalWarning"];

describe("a cell of the bench", () => {
  let server: ContestServer;
  const folder = mkdtempSync(join(tmpdir(), "rondo-bench-test-"));
  beforeAll(async () => {
    server = await startContestServer();
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A subject whose `prepare` is the hand-written loop's with something changed, written as a file. */
  function cheat(name: string, code: string): Subject {
    const file = join(folder, `${name}.mjs`);
    const floor = new URL("../bench/subjects/fetch.mjs", import.meta.url).href;
    writeFileSync(file, `import { prepare as honest } from ${JSON.stringify(floor)};\n${code}`);
    return { ...subjectNamed("fetch"), name, file: pathToFileURL(file).href };
  }
  const outcomeOf = (subject: Subject): Promise<unknown> =>
    runCell(server, "50-steps", subject).then(
      () => "did the work",
      (thrown: unknown) => String(thrown),
    );

  it("is done by the floors and by Rondo, each in units of its floor", async () => {
    const { figures, failures } = await contest({
      server,
      scenarios: ["50-steps"],
      subjects: [
        "fetch",
        "node",
        "rondo",
        "rondo-fetch",
        "fetch-anthropic",
        "rondo-anthropic",
        "in-process",
        "rondo-in-process",
      ].map((name) => fromSources(subjectNamed(name))),
      rounds: 1,
      nodeFlags,
    });
    expect(failures).toEqual([]);
    expect(figures.map(({ subject, runs, rounds }) => [subject, runs, rounds.length])).toEqual(
      [
        "fetch",
        "node",
        "rondo",
        "rondo-fetch",
        "fetch-anthropic",
        "rondo-anthropic",
        "in-process",
        "rondo-in-process",
      ].map((name) => [name, 1, 1]),
    );
    const ratios = new Map(figures.map(({ subject, cpuRatio }) => [subject, cpuRatio]));
    expect(ratios.get("fetch")).toBe(1);
    expect(ratios.get("fetch-anthropic")).toBe(1);
    expect(ratios.get("rondo")).toBeGreaterThan(0);
    for (const { rss, wall } of figures) {
      expect(rss).toBeGreaterThan(10_000);
      expect(wall).toBeGreaterThan(0);
    }
  });

  it("finds out a subject that answers without asking the model", async () => {
    const subject = cheat(
      "no-request",
      `export const prepare = () => async () => ({ text: "All pages were read.", heard: 0 });`,
    );
    expect(await outcomeOf(subject)).toContain("OtherWork: tools ran 0 times instead of 49");
  });

  it("finds out a subject that does not run the tools but makes their results up", async () => {
    const subject = cheat(
      "no-tools",
      `export const prepare = (setup) => honest({ ...setup, tools: setup.tools.map((tool) => ({ ...tool, execute: () => "Page" })) });`,
    );
    expect(await outcomeOf(subject)).toContain("tools ran 0 times instead of 49");
  });

  it("finds out a subject that changes the results before the model has them", async () => {
    const subject = cheat(
      "other-results",
      `export const prepare = (setup) => honest({ ...setup, tools: setup.tools.map((tool) => ({ ...tool, execute: (args) => tool.execute(args).slice(0, 6) })) });`,
    );
    expect(await outcomeOf(subject)).toContain('result 1 in the last request was "Page 1"');
  });

  it("says of a subject that falls over by what it fell, and not that it took too long", async () => {
    const subject = cheat("falls", "export const prepare = () => async () => process.abort();");
    expect(await outcomeOf(subject)).toMatch(/OtherWork: it fell by SIGABRT/);
  });

  it("finds out a subject that does not hear every delta", async () => {
    const subject = cheat(
      "deaf",
      `export const prepare = (setup) => { const run = honest(setup); return async (prompt) => ({ ...(await run(prompt)), heard: 7 }); };`,
    );
    expect(await outcomeOf(subject)).toContain("the listener heard 7 characters of text instead of");
  });

  it("finds out a subject that declares fewer tools than it was given", async () => {
    const subject = cheat(
      "fewer-tools",
      `export const prepare = (setup) => {
        const { fetch: send } = globalThis;
        globalThis.fetch = (url, init) => send(url, { ...init, body: JSON.stringify({ ...JSON.parse(init.body), tools: [] }) });
        return honest(setup);
      };`,
    );
    expect(await outcomeOf(subject)).toContain("0 tools were declared instead of 1");
  });

  it("tells the words of a subject that fails", async () => {
    const subject = cheat("failing", `export const prepare = () => { throw new TypeError("no model"); };`);
    expect(await outcomeOf(subject)).toContain("TypeError: no model");
  });
});

describe("instructions", () => {
  it("are told apart by what they were for", () => {
    const written = `events: Ir
fl=???
fn=v8::internal::Scavenger::ScavengePage(v8::internal::MutablePageMetadata*)
12 3000000
13 1000000
fn=v8::internal::compiler::turboshaft::Graph::Next()
0 2000000
fn=v8::internal::Scanner::Scan()
4 500000
fn=Builtins_CallFunction
7 250000
summary: 6750000
`;
    expect(countedIn(written)).toEqual({ total: 6.75, collecting: 4, optimising: 2, parsing: 0.5 });
  });

  it("of a cell are those of its process, and beside the floor's", async (context) => {
    if (spawnSync("valgrind", ["--version"]).status !== 0) context.skip("there is no valgrind");
    const server = await startContestServer();
    const taking = ["fetch", "node"].map(subjectNamed);
    const { counts, failures } = await count({ server, scenarios: ["cold"], subjects: taking }).finally(() =>
      server.close(),
    );
    expect(failures).toEqual([]);
    const [floor, other] = counts;
    expect([floor?.subject, floor?.ratio, other?.subject]).toEqual(["fetch", 1, "node"]);
    expect(other?.ratio).toBe((other?.total ?? 0) / (floor?.total ?? 0));
    for (const { total, collecting, optimising, parsing } of counts) {
      expect(parsing).toBeGreaterThan(0);
      expect(total).toBeGreaterThan(collecting + optimising + parsing);
    }
  });
});

describe("the check of a subject's work", () => {
  const plan = plans["200kb-arguments"] as Plan;
  const { requests, heard, text, executed, argued, results } = expectedOf(plan.turns);
  const did: Did = { cpu: 1, main: 1, wall: 1, rss: 1, executed, argued, agents: [{ text, heard }] };
  const sent: Sent = { requests, bytes: 1, streamed: true, results, tools: 1 };

  it("passes for the work of the plan", () => {
    expect(wrongWith(plan, did, { "1": sent })).toBeUndefined();
    expect(argued).toBeGreaterThan(200_000);
  });

  it.each([
    ["another last answer", { ...did, agents: [{ text: "no", heard }] }, sent, /last answer was "no"/],
    ["arguments cut short", { ...did, argued: argued - 1 }, sent, /characters of arguments/],
    ["an agent missing", { ...did, agents: [] }, sent, /0 agents ended/],
    ["a request more", did, { ...sent, requests: requests + 1 }, /3 requests instead of 2/],
    ["no stream", did, { ...sent, streamed: false }, /no stream was asked for/],
    ["no result sent back", did, { ...sent, results: [] }, /0 tool results instead of 1/],
  ])("names %s", (_, done: Did, seen: Sent, words) => {
    expect(wrongWith(plan, done, { "1": seen })).toMatch(words);
  });
});

describe("the verdict", () => {
  /** Figures that keep every bound. */
  function kept(): Outcome {
    const figures: Figure[] = [...streaming, "cold"].flatMap((scenario) =>
      subjects.map(({ name, kind, protocol }): Figure => {
        const steps = Number(/^(\d+)-steps$/.exec(scenario)?.[1] ?? 1);
        const cpu = steps * (name.startsWith("fetch") ? 2 : kind === "peer" ? 4 : 1);
        const ratio = cpu / (2 * steps);
        return {
          scenario,
          subject: name,
          protocol,
          runs: 1,
          cpu,
          main: cpu,
          wall: cpu,
          rss: 1,
          cpuRatio: ratio,
          wallRatio: ratio,
          rounds: [cpu],
        };
      }),
    );
    const sizes = subjects
      .filter(({ packages }) => packages.length > 0)
      .map(({ name, kind }) => ({ subject: name, bytes: kind === "peer" ? 2e6 : 1e6, packages: 1 }));
    return { figures, failures: [], sizes, imports: { core: 10, withProvider: 30, yardstick: 16, runs: 1 } };
  }
  const broken = (outcome: Outcome): string[] =>
    verdictOf(outcome).flatMap(({ ok, bound, figures }) => (ok ? [] : [`${bound}: ${figures}`]));
  const change = (outcome: Outcome, scenario: string, subject: string, by: number): Outcome => ({
    ...outcome,
    figures: outcome.figures.map((figure) =>
      figure.scenario === scenario && figure.subject === subject
        ? {
            ...figure,
            cpu: figure.cpu * by,
            cpuRatio: (figure.cpuRatio ?? 1) * by,
            rounds: figure.rounds.map((cpu) => cpu * by),
          }
        : figure,
    ),
  });

  it("is ok when every bound is kept", () => {
    expect(broken(kept())).toEqual([]);
  });

  it("names the bound that Rondo does not keep beside a floor, however little is missing", () => {
    expect(broken(change(kept(), "200-agents", "rondo", 1.31))).toEqual([
      "200-agents, openai-chat: CPU within 1.3 of the node:http loop's: 1.31 of it; kept and pure, 1.00; with a wire by hand, 1.00; with a loop by hand, 1.00",
    ]);
    const slow = change(change(kept(), "200-agents", "rondo", 2.2), "200-agents", "rondo-wire", 1.5);
    expect(broken(slow)).toEqual([
      "200-agents, openai-chat: CPU at or below the fetch loop's: 1.10 of it; kept and pure, 0.50; with a wire by hand, 0.75; with a loop by hand, 0.50",
      "200-agents, openai-chat: CPU within 1.3 of the node:http loop's: 2.20 of it; kept and pure, 1.00; with a wire by hand, 1.50; with a loop by hand, 1.00",
    ]);
  });

  it("names the growth that is steeper than the floor's", () => {
    expect(broken(change(kept(), "50-steps", "rondo-anthropic", 0.8))).toEqual([
      "anthropic-messages: growth from 50 to 1,000 steps at most the node:http loop's plus 0.05: exponent 1.074, at most 1.050",
    ]);
  });

  it("names the peer that is ahead", () => {
    expect(broken(change(kept(), "cold", "pi", 0.2))).toEqual([
      "cold, openai-chat: ahead of every peer: 0.50 of the fetch loop's CPU; the best, pi, 0.40",
    ]);
  });

  it("names an import that takes too long, and tells what a known one takes", () => {
    const imports = { core: 20, withProvider: 39.9, yardstick: 32, runs: 1 };
    expect(broken({ ...kept(), imports })).toEqual([
      "import of core under 20 ms: 20.0 ms; ajv, 16 where the bound was set, takes 32.0",
    ]);
  });

  it("keeps no bound without figures", () => {
    const nothing = verdictOf({ figures: [], failures: [] });
    expect(nothing.length).toBeGreaterThan(30);
    for (const { ok, figures } of nothing) expect([ok, figures]).toEqual([false, "not measured"]);
  });

  it("does not count a peer as beaten that was never run", () => {
    const outcome = kept();
    outcome.figures = outcome.figures.filter(({ subject }) => subject !== "mastra");
    expect(broken(outcome)).toHaveLength(streaming.length + 1);
  });
});

describe("the peers", () => {
  const folder = fileURLToPath(new URL("../bench/peers/", import.meta.url));

  it("are pinned, locked, and named by no download address", () => {
    const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as {
      packages: Record<string, { version?: string; resolved?: string }>;
    };
    for (const { name, kind, packages: needed } of subjects)
      if (kind === "peer") {
        expect(existsSync(join(folder, `${name}.mjs`))).toBe(true);
        for (const one of needed) expect(packages[`node_modules/${one}`]?.version).toBe(dependencies[one]);
      }
    expect(Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });
});

describe("a plot", () => {
  it("cuts a bar that is off its scale and escapes what it is told", () => {
    const svg = plot("a < b", "x", [{ label: "one & two", value: 50, text: "50", kind: "peer" }], 10);
    expect(svg).toContain("a &lt; b");
    expect(svg).toContain("one &amp; two");
    expect(svg).toContain('width="420.0"');
  });
});
