// The room of the campaign: a provider that misbehaves, a process that lives, processes that die, and the sum of it all.
//
// The provider is here, so that it outlives whoever is killed. Two kinds of workers share it: one process with hundreds
// of agents that lives to the end and whose heap is measured, and eras of agents whose process is killed again and again
// until it is let live; each era is then judged from its files by a process that was no part of it.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RondoWire, rondoWire, type WireName } from "@rondo/testkit/wire";
import { bundled } from "../bundled.ts";
import { Chance } from "../chance.ts";
import { isMortal, Minds } from "./mind.ts";
import type { Mistake } from "./mistakes.ts";
import { type Acknowledged, keepAcknowledged } from "./mortal.ts";
import { protocolNames } from "./plan.ts";
import type { Addresses } from "./scene.ts";
import type { Common, HeapRow, Judged, Orders, OwnOrders, Word } from "./words.ts";
import { type Ended, work } from "./workers.ts";

export interface Campaign {
  seed: number;
  ms: number;
  /** Agents at work together in the process that lives. 0: no such process. */
  together: number;
  /** Agents of an era, in the processes that are killed. 0: none. */
  mortals: number;
  /** Between two measures of the heap. Default: a minute. */
  rowMs?: number;
  /** One agent, by its name, and nobody else. */
  only?: string;
  mistake?: Mistake;
  /** Hears of each agent that was judged, and each row of the heap, as it comes. */
  hear?: (news: Judged | HeapRow) => void;
  /** Hears every record of whoever is played alone. */
  show?: (session: string, record: string) => void;
}

export interface Outcome {
  judged: number;
  heap: HeapRow[];
  kills: number;
  lives: number;
  eras: number;
  requests: number;
  faults: ReadonlyMap<string, number>;
  /** Requests that a provider would have refused for their form. */
  violations: string[];
  /** What the script asked a protocol for that it cannot say: mistakes of the campaign. */
  problems: string[];
  unhandled: string[];
  /** Workers that ended in another way than they should. */
  failed: string[];
}

/** A life that is let live and does not come to its end in this time hangs. */
const longestLifeMs = 180_000;

export async function campaign(options: Campaign): Promise<Outcome> {
  const scratch = mkdtempSync(join(tmpdir(), "rondo-chaos-"));
  const minds = new Minds(options.seed);
  const wire = await rondoWire({ script: (request) => minds.answer(request), keepRequests: false });
  try {
    const program = await bundled(new URL("./worker-main.ts", import.meta.url), scratch);
    const workers = new Workers(options, scratch, program, minds, wire);
    await Promise.all([workers.steady(), workers.mortal()]);
    return {
      ...workers.outcome,
      requests: minds.requests,
      faults: minds.played,
      violations: wire.violations.map(({ path, message }) => `${path}: ${message}`),
      problems: [...wire.problems],
    };
  } finally {
    await wire.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The workers' orders, and what comes of them. */
class Workers {
  readonly outcome: Pick<Outcome, "judged" | "heap" | "kills" | "lives" | "eras" | "unhandled" | "failed"> = {
    judged: 0,
    heap: [],
    kills: 0,
    lives: 0,
    eras: 0,
    unhandled: [],
    failed: [],
  };
  readonly #options: Campaign;
  readonly #scratch: string;
  readonly #program: string;
  readonly #minds: Minds;
  /** What every worker is told. */
  readonly #common: Common;

  constructor(options: Campaign, scratch: string, program: string, minds: Minds, wire: RondoWire) {
    this.#options = options;
    this.#scratch = scratch;
    this.#program = program;
    this.#minds = minds;
    const { seed, mistake, only, show } = options;
    const addresses = protocolNames.map((name) => [name, wire.urlFor(name as WireName)]);
    this.#common = {
      seed,
      addresses: Object.fromEntries(addresses) as Addresses,
      ...(mistake === undefined ? {} : { mistake }),
      ...(only === undefined || show === undefined ? {} : { shows: true }),
    };
  }

  /** The process that lives to the end. */
  async steady(): Promise<void> {
    const { together, only, ms, rowMs = 60_000 } = this.#options;
    if (together === 0 || (only !== undefined && isMortal(only))) return;
    const folder = this.#folder("steady");
    const own = only === undefined ? {} : { only };
    await this.#done("the steady process", { be: "steady", folder, ms, together, rowMs, ...own });
  }

  /** The processes that are killed, era after era. */
  async mortal(): Promise<void> {
    const { only, mortals, ms } = this.#options;
    if (only !== undefined) {
      if (isMortal(only)) await this.#era(Number(/^m(\d+)-/.exec(only)?.[1] ?? 0), [only]);
      return;
    }
    const began = performance.now();
    for (let number = 0; mortals > 0 && performance.now() - began < ms; number += 1)
      await this.#era(
        number,
        Array.from({ length: mortals }, (_, at) => `m${number}-${at}`),
      );
  }

  /** Agents whose process is killed again and again until it is let live; then what they left is judged. */
  async #era(era: number, names: readonly string[]): Promise<void> {
    const folder = this.#folder(`era-${era}`);
    const chance = new Chance(this.#options.seed, "era", era);
    const acknowledged: Acknowledged = {};
    const deaths = 2 + chance.below(6);
    for (let life = 0; ; life += 1) {
      const ms = life < deaths ? 100 + chance.few(3_000) : undefined;
      const orders: Orders = { ...this.#common, be: "mortal", folder, era, names, life };
      const ended = await this.#life(orders, ms ?? longestLifeMs, acknowledged);
      if (ended.whole) break;
      if (!ended.killed || ms === undefined) {
        this.#failed(`life ${life} of era ${era}${ms === undefined ? ", which hung and" : ""}`, ended);
        break;
      }
    }
    keepAcknowledged(folder, acknowledged);
    await this.#done(`the judge of era ${era}`, { be: "judge", folder, era, names });
    for (const name of names) this.#minds.forget(name);
    this.outcome.eras += 1;
    rmSync(folder, { recursive: true, force: true });
  }

  /** One life, killed so many milliseconds after it is up if it has not ended by then. */
  async #life(orders: Orders, ms: number, acknowledged: Acknowledged): Promise<Ended> {
    let timer: NodeJS.Timeout | undefined;
    const worker = work(this.#program, orders, (word) => {
      // Whose life it is was loaded: from here on every instant counts.
      if (word.say === "up") timer = setTimeout(() => worker.kill(), ms);
      else if (word.say === "stored") {
        acknowledged[word.session] ??= [];
        const own = acknowledged[word.session] ?? [];
        word.digests.forEach((digest, at) => {
          own[word.from + at] = digest;
        });
      } else if (word.say !== "over") this.#hear(word);
    });
    const ended = await worker.ended;
    clearTimeout(timer);
    this.outcome.lives += 1;
    if (ended.killed) this.outcome.kills += 1;
    return ended;
  }

  /** A worker that is to come to the end of its orders. */
  async #done(who: string, orders: OwnOrders): Promise<void> {
    const all: Orders = { ...this.#common, ...orders };
    const ended = await work(this.#program, all, (word) => this.#hear(word)).ended;
    if (!ended.whole) this.#failed(who, ended);
  }

  #failed(who: string, { errors }: Ended): void {
    this.outcome.failed.push(`${who} ended by itself: ${errors}`);
  }

  #folder(name: string): string {
    const folder = join(this.#scratch, name);
    mkdirSync(folder);
    return folder;
  }

  #hear(word: Word): void {
    const { hear = () => {}, show } = this.#options;
    if (word.say === "over") this.#minds.forget(word.name);
    else if (word.say === "heap") {
      this.outcome.heap.push(word.row);
      hear(word.row);
    } else if (word.say === "judged") {
      this.outcome.judged += 1;
      hear(word.judged);
    } else if (word.say === "shown") show?.(word.session, word.record);
    else if (word.say === "unhandled") this.outcome.unhandled.push(word.words);
  }
}
