// The room of the long-lived process: hundreds of concurrent agents, each judged as it ends, and a heap that must not grow.
//
// From time to time no new agent starts; when the last one has ended, the garbage is collected and the heap measured.
// So the figure is independent of active agents, and shows everything that ended sessions leave behind.

import { Agent, type Journal } from "@rondo/core";
import { mistaken } from "../crash/mistakes.ts";
import { Company, course } from "./course.ts";
import { examine } from "./examine.ts";
import { Journals } from "./journals.ts";
import { moodyRule } from "./mistakes.ts";
import { type Plan, planOf } from "./plan.ts";
import { type Cast, sceneOf } from "./scene.ts";
import { type Came, emptyCame } from "./verdict.ts";
import { type Orders, tell } from "./words.ts";
import { WorldInMemory } from "./world.ts";

type SteadyOrders = Orders & { be: "steady" };

export async function steady(orders: SteadyOrders): Promise<void> {
  const steady = new Steady(orders);
  await (orders.only === undefined ? steady.all() : steady.play(orders.only));
}

/** What the leaking mistake keeps: the growth must be noticed. */
const kept: unknown[] = [];

class Steady {
  readonly #orders: SteadyOrders;
  readonly #journals: Journals;
  readonly #began = performance.now();
  #next = 0;
  #ended = 0;
  #measured = -1;
  #working = 0;
  /** While set, no agent starts; resolves when none is working. */
  #rest: PromiseWithResolvers<void> | undefined;
  #wake = Promise.withResolvers<void>();

  constructor(orders: SteadyOrders) {
    this.#orders = orders;
    this.#journals = new Journals(orders.folder);
  }

  async all(): Promise<void> {
    const { together, ms, rowMs } = this.#orders;
    const slots = Promise.all(Array.from({ length: together }, () => this.#slot()));
    while (this.#now() < ms) {
      const row = Math.min(rowMs, ms - this.#now());
      await Promise.race([slots, new Promise((resolve) => setTimeout(resolve, row))]);
      if (this.#now() < ms) await this.#measure();
    }
    await slots;
    // If no agent has ended since the last row, it is still valid.
    if (this.#ended > this.#measured) await this.#measure();
  }

  /** One agent, from its task to its end, and its judgement. */
  async play(name: string): Promise<void> {
    const { seed, mistake, addresses } = this.#orders;
    const startedAt = performance.now();
    const plan = planOf(seed, name, false);
    const { journal: own, release } = this.#journals.take(plan.journal);
    const journal = mistake === "lose_message" ? mistaken(own, "lose_message") : own;
    const world = new WorldInMemory();
    const lies = mistake === "moody_rule" ? { rule: moodyRule() } : {};
    const cast = sceneOf(plan, { seed, addresses, world, lies });
    const company = new Company(plan);
    const broken: Came["findings"] = [];
    const complain = (words: string): void => void broken.push({ promise: "P6", words: `${name}: ${words}` });
    const over = this.#over(plan, new Agent({ ...cast.agent, journal }), company, complain);
    // The longest timeout of any agent is that of a tool without its own, 120 s, after which a result may still wait for a
    // busy disk: an agent that is silent for longer waits for something that never comes.
    const silentMs = mistake === "never_settle" ? 3_000 : 150_000;
    const hung = await isHung(over, company, silentMs);
    if (mistake === "leave_rejections") void Promise.reject(new Error(`nobody heard what ${name} said`));
    if (mistake === "keep_sessions")
      kept.push(await journal.read(name), new Array(200_000).fill(this.#ended));
    tell({ say: "over", name });
    let came = emptyCame();
    if (hung) complain(await lastWords(own, name, silentMs));
    else {
      came = await this.#examined(plan, cast, own, world, company);
      release();
    }
    came.findings.unshift(...broken);
    tell({ say: "judged", judged: { name, came, ms: performance.now() - startedAt } });
  }

  /** Resolves when the agent, and everybody who talks to it, are done. */
  async #over(plan: Plan, agent: Agent, company: Company, complain: (words: string) => void): Promise<void> {
    const { seed, mistake } = this.#orders;
    if (mistake === "never_settle") return new Promise<never>(() => {});
    const session = await course(seed, plan, agent, company, complain);
    await company.quiet();
    await session?.settled();
  }

  async #examined(
    plan: Plan,
    cast: Cast,
    journal: Journal,
    { effects }: WorldInMemory,
    company: Company,
  ): Promise<Came> {
    const { mistake, shows } = this.#orders;
    const came = await examine({ plan, cast, journal, effects, mistake, shows });
    const known = new Set(
      (await journal.read(plan.name)).flatMap((record) => (record.type === "queued" ? [record.id] : [])),
    );
    for (const id of company.said)
      if (!known.has(id))
        came.findings.push({ promise: "P8", words: `${plan.name}: the message ${id} was lost` });
    return came;
  }

  /** Runs one agent after another, pausing while the heap is measured. */
  async #slot(): Promise<void> {
    while (this.#now() < this.#orders.ms) {
      while (this.#isResting()) await this.#wake.promise;
      const name = `a${this.#next++}`;
      this.#working += 1;
      await this.play(name);
      this.#working -= 1;
      this.#ended += 1;
      if (this.#working === 0) this.#rest?.resolve();
    }
  }

  async #measure(): Promise<void> {
    const rest = Promise.withResolvers<void>();
    this.#rest = rest;
    if (this.#working > 0) await rest.promise;
    // Whatever timers and sockets still hold is released within a moment; unresponsive tools end within theirs.
    await new Promise((resolve) => setTimeout(resolve, 600));
    for (let round = 0; round < 3; round += 1) {
      globalThis.gc?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#measured = this.#ended;
    const { heapUsed, rss } = process.memoryUsage();
    const row = { at: this.#now(), ended: this.#ended, heapMb: heapUsed / 2 ** 20, rssMb: rss / 2 ** 20 };
    tell({ say: "heap", row });
    const woken = this.#wake;
    this.#wake = Promise.withResolvers<void>();
    this.#rest = undefined;
    woken.resolve();
  }

  #isResting(): boolean {
    return this.#rest !== undefined;
  }

  #now(): number {
    return performance.now() - this.#began;
  }
}

async function lastWords(journal: Journal, name: string, silentMs: number): Promise<string> {
  const last = (await journal.read(name)).slice(-4).map((record) => JSON.stringify(record).slice(0, 300));
  return `nothing was heard of it for ${silentMs} ms, and it has not ended; its last records: ${last.join("\n  ")}`;
}

/**
 * Waits until it is over, or nothing was heard for `silentMs`. Only time in which the process really ran counts: if the
 * machine suspended it for a minute, nothing could be heard.
 */
async function isHung(over: Promise<void>, company: Company, silentMs: number): Promise<boolean> {
  const turnMs = 1_000;
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<boolean>((resolve) => {
    let heardAt = company.heardAt;
    let turns = 0;
    timer = setInterval(() => {
      turns = company.heardAt === heardAt ? turns + 1 : 0;
      heardAt = company.heardAt;
      if (turns * turnMs >= silentMs) resolve(true);
    }, turnMs);
  });
  try {
    return await Promise.race([over.then(() => false), silent]);
  } finally {
    clearInterval(timer);
  }
}
