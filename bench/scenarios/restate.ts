// The room of Restate's cost: steps per second with one worker and with two, and the time between steps, compared with a
// bare handler.
//
// The floor is a bare handler on the same server: one object per session, and per step as many journaled values as Rondo
// makes, with the same sizes, both taken from the server's journal of a Rondo run. So the ratio shows what Rondo does
// besides (the session's records, live events). The two alternate, round by round.

import { fileURLToPath } from "node:url";
import { restateClient } from "@rondo/restate";
import { type Balancer, connectionSettings, startBalancer } from "../../examples/cluster/engine/balancer.ts";
import { type Engine, NoServer, startEngine } from "../../examples/cluster/engine/engine.ts";
import { startWorkerProcess, type WorkerProcess } from "../../examples/cluster/engine/worker-process.ts";
import { median } from "../measure.ts";
import type { BareWork } from "../restate/bare.ts";
import type { Tabled } from "../scenario.ts";

const rounds = 3;
/** Steps per round: a model's answer, and a tool result if it asks for one. The round's runs are concurrent. */
const stepsOfRound = 960;
/** Steps per run, and number of workers. A run has a fixed cost, which short runs show. */
const loads = [
  { steps: 80, workers: 1 },
  { steps: 80, workers: 2 },
  { steps: 20, workers: 1 },
] as const;
/** Steps of the run that is timed alone on the server. */
const alone = 200;

const program = fileURLToPath(new URL("../restate/worker.ts", import.meta.url));

type Which = "rondo" | "bare";

/** One of the two: its workers, behind one address. */
interface Side {
  which: Which;
  balancer: Balancer;
  workers: WorkerProcess[];
  /** Runs some number of steps. */
  run(id: string, steps: number): Promise<void>;
  /** Fetches, and clears, the step times that the workers recorded. */
  collect(): Promise<number[]>;
}

export const restate: Tabled = {
  about:
    "the loop on Restate, one node of the server, beside a handler of the bare engine that journals as many values of as many bytes",
  async table() {
    let engine: Engine;
    try {
      engine = await startEngine({ settings: connectionSettings });
    } catch (thrown) {
      if (thrown instanceof NoServer) return `not measured: ${thrown.message}`;
      throw thrown;
    }
    const sides: Side[] = [];
    try {
      const rondo = await rondoSide(engine);
      sides.push(rondo);
      await rondo.run("warm", loads[0].steps);
      const journaled = await journaledBy(engine, "warm", loads[0].steps);
      const bare = await bareSide(engine, journaled);
      sides.push(bare);
      return await compared(bare, rondo, journaled);
    } finally {
      for (const { workers, balancer } of sides) {
        await Promise.all(workers.map((worker) => worker.stop()));
        await balancer.stop();
      }
      await engine.stop();
    }
  },
};

async function compared(
  bare: Side,
  rondo: Side,
  journaled: readonly (readonly number[])[],
): Promise<{ head: string[]; rows: string[][] }> {
  const rows: string[][] = [];
  const row = (what: string, own: readonly number[], floor: readonly number[], digits: number): void => {
    const ratio = median(own.map((one, at) => one / (floor[at] ?? Number.NaN)));
    rows.push([what, "", median(own).toFixed(digits), median(floor).toFixed(digits), ratio.toFixed(2)]);
  };
  for (const load of loads) {
    const rates = { rondo: [] as number[], bare: [] as number[] };
    for (let round = 0; round <= rounds; round += 1)
      for (const side of round % 2 === 0 ? [bare, rondo] : [rondo, bare]) {
        const rate = await rateOf(side, load, `${load.steps}-${load.workers}-${round}`);
        // The first round is not counted: connections are opened, code is compiled.
        if (round > 0) rates[side.which].push(rate);
      }
    const workers = load.workers === 1 ? "1 worker" : `${load.workers} workers`;
    row(`steps a second, ${workers}, runs of ${load.steps} steps`, rates.rondo, rates.bare, 0);
  }
  const times = { rondo: [] as number[][], bare: [] as number[][] };
  for (let round = 0; round <= rounds; round += 1)
    for (const side of round % 2 === 0 ? [bare, rondo] : [rondo, bare]) {
      const taken = await timesOf(side, `alone-${round}`);
      if (round > 0) times[side.which].push(taken);
    }
  for (const [name, share] of [
    ["p50", 0.5],
    ["p99", 0.99],
  ] as const) {
    const at = (rounds: readonly (readonly number[])[]): number[] =>
      rounds.map((one) => one[Math.floor(one.length * share)] ?? Number.NaN);
    row(`a durable step, ms, ${name}`, at(times.rondo), at(times.bare), 2);
  }
  const values = journaled.reduce((sum, step) => sum + step.length, 0) / journaled.length;
  const bytes = journaled.flat().reduce((sum, size) => sum + size, 0) / journaled.length;
  rows.push(["journaled values a step", "", values.toFixed(1), values.toFixed(1), ""]);
  rows.push(["journaled bytes a step", "", bytes.toFixed(0), bytes.toFixed(0), ""]);
  return { head: ["", "", "Rondo", "bare engine", "ratio"], rows };
}

/** Steps per second of all runs together. */
async function rateOf(
  side: Side,
  { steps, workers }: { steps: number; workers: number },
  round: string,
): Promise<number> {
  side.workers.forEach(({ address }, at) => {
    if (at < workers) side.balancer.add(address);
    else side.balancer.remove(address);
  });
  side.balancer.cut();
  const runs = stepsOfRound / steps;
  const from = performance.now();
  await Promise.all(Array.from({ length: runs }, (_, at) => side.run(`${round}-${at}`, steps)));
  return stepsOfRound / ((performance.now() - from) / 1_000);
}

/** The time of each step of a run that is alone, in milliseconds, shortest first. */
async function timesOf(side: Side, id: string): Promise<number[]> {
  await side.collect();
  await side.run(id, alone);
  return (await side.collect()).sort((one, other) => one - other);
}

async function sideOf(
  engine: Engine,
  which: Which,
  run: (id: string, steps: number) => Promise<void>,
): Promise<Side> {
  const balancer = await startBalancer();
  let heard: ((times: number[]) => void) | undefined;
  const workers = await Promise.all(
    [1, 2].map(() =>
      startWorkerProcess(program, [which], (words) => heard?.((words as { times: number[] }).times)),
    ),
  );
  for (const { address } of workers.slice(0, 1)) balancer.add(address);
  await engine.register(balancer.address);
  return {
    which,
    balancer,
    workers,
    run,
    async collect() {
      const all: number[] = [];
      for (const worker of workers) {
        const told = new Promise<number[]>((settle) => {
          heard = settle;
        });
        worker.tell("times");
        all.push(...(await told));
      }
      return all;
    },
  };
}

async function rondoSide(engine: Engine): Promise<Side> {
  const client = restateClient({ ingress: engine.ingress, agent: "bench" });
  return sideOf(engine, "rondo", async (id, count) => {
    const { end, steps: made } = await client.session(id).send(`${id} ${count}`);
    if (end?.reason !== "completed" || made !== count)
      throw new Error(`a run of ${count} steps ended with ${end?.reason} after ${made}`);
  });
}

async function bareSide(engine: Engine, journaled: readonly (readonly number[])[]): Promise<Side> {
  return sideOf(engine, "bare", async (id, count) => {
    const work: BareWork = {
      steps: Array.from({ length: count }, (_, at) => journaled[at % journaled.length] ?? []),
    };
    const response = await fetch(`${engine.ingress}/bare/${id}/run`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(work),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the bare engine's run failed: ${text}`);
  });
}

/** Bytes that the SDK and the server add around a value. */
const wrapping = 12;

/** The sizes of the values that a Rondo run journaled, distributed over its steps in order. */
async function journaledBy(engine: Engine, session: string, count: number): Promise<number[][]> {
  const rows = await engine.query(
    "select j.raw_length as size from sys_journal j join sys_invocation i on j.id = i.id " +
      `where i.target_service_key = '${session}' and j.entry_type = 'Notification: Run' order by i.created_at, j.index`,
  );
  const sizes = rows.map(({ size }) => Math.max(1, Number(size) - wrapping));
  if (sizes.length < count)
    throw new Error(`the server's journal has ${sizes.length} values of a run of ${count} steps`);
  return Array.from({ length: count }, (_, at) =>
    sizes.slice(Math.round((at * sizes.length) / count), Math.round(((at + 1) * sizes.length) / count)),
  );
}
