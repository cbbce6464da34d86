// The room of the steady process: hundreds of agents at once, each judged as it ends, and a heap that must not grow.
//
// Every so often nobody new begins; when the last has ended, what is collectable is collected and the heap is measured.
// So the measure knows nothing of who happened to be at work, and sees whatever ended sessions leave behind.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Agent, type Journal, memoryJournal } from "@rondo/core";
import { mistaken } from "../crash/mistakes.ts";
import { openJournal } from "../crash/place.ts";
import { Company, course } from "./course.ts";
import { examine } from "./examine.ts";
import { moodyRule } from "./mistakes.ts";
import { type Plan, planOf } from "./plan.ts";
import { sceneOf } from "./scene.ts";
import { emptyCame } from "./verdict.ts";
import { type Judged, type Orders, tell } from "./words.ts";
import { WorldInMemory } from "./world.ts";

/** So many agents share a durable journal before it is closed and another is begun. */
const agentsAJournal = 100;

/** Journals on the disk, each for some agents; it is gone when the last of them is over. */
class Journals {
  readonly #folder: string;
  #number = 0;
  readonly #open = new Map<
    "sqlite" | "jsonl",
    { journal: Journal; taken: number; users: number; folder: string }
  >();

  constructor(folder: string) {
    this.#folder = folder;
  }

  take(kind: Plan["journal"]): { journal: Journal; release(): void } {
    if (kind === "memory") return { journal: memoryJournal(), release: () => {} };
    let one = this.#open.get(kind);
    if (one === undefined || one.taken >= agentsAJournal) {
      const folder = join(this.#folder, `${kind}-${this.#number++}`);
      mkdirSync(folder);
      one = { journal: openJournal(kind, folder), taken: 0, users: 0, folder };
      this.#open.set(kind, one);
    }
    const held = one;
    held.taken += 1;
    held.users += 1;
    return {
      journal: held.journal,
      release: () => {
        held.users -= 1;
        if (held.users > 0 || held.taken < agentsAJournal) return;
        void held.journal.close?.();
        rmSync(held.folder, { recursive: true, force: true });
      },
    };
  }
}

export async function steady(orders: Orders & { be: "steady" }): Promise<void> {
  const { seed, together, ms, rowMs, only, mistake, folder } = orders;
  const journals = new Journals(folder);
  const kept: unknown[] = [];
  const began = performance.now();
  const now = (): number => performance.now() - began;
  // The longest clock of any agent is that of a tool without its own, 120 s, in which a result may wait for a busy disk:
  // who is silent for longer waits for something that never comes.
  const silentMs = mistake === "never_settle" ? 3_000 : 150_000;
  let next = 0;
  let ended = 0;
  let measured = -1;
  let working = 0;
  // Held in an object: it changes while others wait.
  const pause: { rest: PromiseWithResolvers<void> | undefined } = { rest: undefined };
  let wake = Promise.withResolvers<void>();

  const isPaused = (): boolean => pause.rest !== undefined;

  const play = async (name: string): Promise<void> => {
    const plan = planOf(seed, name, false);
    const judged: Judged = { name, came: emptyCame() };
    const startedAt = performance.now();
    const { journal: own, release } = journals.take(plan.journal);
    const journal = mistake === "lose_message" ? mistaken(own, "lose_message") : own;
    const world = new WorldInMemory();
    const cast = sceneOf(plan, {
      seed,
      addresses: orders.addresses,
      world,
      lies: mistake === "moody_rule" ? { rule: moodyRule() } : {},
    });
    const agent = new Agent({ ...cast.agent, journal });
    const company = new Company(plan);
    const complain = (words: string): void =>
      void judged.came.findings.push({ promise: "P6", words: `${name}: ${words}` });
    const over =
      mistake === "never_settle"
        ? new Promise<never>(() => {})
        : course(seed, plan, agent, company, complain).then(async (session) => {
            await company.quiet();
            await session?.settled();
          });
    const hung = await isHung(over, company, silentMs);
    if (mistake === "leave_rejections") void Promise.reject(new Error(`nobody heard what ${name} said`));
    if (mistake === "keep_sessions") kept.push(await journal.read(name), new Array(200_000).fill(ended));
    tell({ say: "over", name });
    if (hung) {
      const last = (await own.read(name)).slice(-4).map((record) => JSON.stringify(record).slice(0, 300));
      complain(
        `nothing was heard of it for ${silentMs} ms, and it has not ended; its last records: ${last.join("\n  ")}`,
      );
    } else {
      const came = await examine({
        plan,
        cast,
        journal: own,
        effects: world.effects,
        mistake,
        shows: orders.shows,
      });
      came.findings.unshift(...judged.came.findings);
      const known = new Set(
        (await own.read(name)).flatMap((record) => (record.type === "queued" ? [record.id] : [])),
      );
      for (const id of company.said)
        if (!known.has(id))
          came.findings.push({ promise: "P8", words: `${name}: the message ${id} was lost` });
      judged.came = came;
      release();
    }
    tell({ say: "judged", judged: { ...judged, ms: performance.now() - startedAt } });
  };

  const slot = async (): Promise<void> => {
    while (now() < ms) {
      while (isPaused()) await wake.promise;
      const name = `a${next++}`;
      working += 1;
      await play(name);
      working -= 1;
      ended += 1;
      if (working === 0) pause.rest?.resolve();
    }
  };

  const measure = async (): Promise<void> => {
    const rest = Promise.withResolvers<void>();
    pause.rest = rest;
    if (working > 0) await rest.promise;
    // What timers and sockets still hold lets go within a moment; deaf tools, within theirs.
    await new Promise((resolve) => setTimeout(resolve, 600));
    for (let round = 0; round < 3; round += 1) {
      globalThis.gc?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    measured = ended;
    const { heapUsed, rss } = process.memoryUsage();
    tell({ say: "heap", row: { at: now(), ended, heapMb: heapUsed / 2 ** 20, rssMb: rss / 2 ** 20 } });
    const woken = wake;
    wake = Promise.withResolvers<void>();
    pause.rest = undefined;
    woken.resolve();
  };

  if (only !== undefined) return play(only);
  const slots = Promise.all(Array.from({ length: together }, slot));
  while (now() < ms) {
    await Promise.race([slots, new Promise((resolve) => setTimeout(resolve, Math.min(rowMs, ms - now())))]);
    if (now() < ms) await measure();
  }
  await slots;
  // As long as nobody worked since the last row, it stands.
  if (ended > measured) await measure();
  if (kept.length < 0) throw new Error("what is kept is kept");
}

/**
 * Waits until it is over, or nothing was heard for so long. The time is counted in turns that the process really had: one
 * that stood still for a minute has heard nothing, and nobody is to blame.
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
