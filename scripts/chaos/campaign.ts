// The room of the campaign: a misbehaving provider, one long-lived process, processes that are killed, and the totals.
//
// The provider runs here, so that it outlives the killed processes. Two kinds of workers use it: one process with hundreds
// of agents that runs to the end and whose heap is measured, and eras of agents whose process is killed repeatedly until
// one life may complete; each era is then judged from its files by a separate process.

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
import { type Ended, type Worker, work } from "./workers.ts";

export interface Campaign {
  seed: number;
  ms: number;
  /** Concurrent agents in the long-lived process. 0: no such process. */
  together: number;
  /** Agents per era, in the processes that are killed. 0: none. */
  mortals: number;
  /** Time between two measurements of the heap, in milliseconds. Default: a minute. */
  rowMs?: number;
  /** Play only the agent with this name. */
  only?: string;
  mistake?: Mistake;
  /** What `workerProgram` made, where several campaigns share it. Default: the campaign makes its own. */
  program?: string;
  /** Asked after each judged agent: when it says so the campaign is over, and its workers are killed. Default: never. */
  enough?: () => boolean;
  /** Called for each judged agent and each row of the heap. */
  hear?: (news: Judged | HeapRow) => void;
  /** Called for every record of the agent that is played alone. */
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
  /** Requests that a provider would have rejected as malformed. */
  violations: string[];
  /** What the script wanted and a protocol cannot express: bugs of the campaign. */
  problems: string[];
  unhandled: string[];
  /** Workers that ended unexpectedly. */
  failed: string[];
}

/** A life that is not killed and takes longer than this hangs. */
const longestLifeMs = 180_000;

/** The program of the workers, made in a folder. */
export const workerProgram = (folder: string): Promise<string> =>
  bundled(new URL("./worker-main.ts", import.meta.url), folder);

export async function campaign(options: Campaign): Promise<Outcome> {
  const scratch = mkdtempSync(join(tmpdir(), "rondo-chaos-"));
  const minds = new Minds(options.seed);
  const wire = await rondoWire({ script: (request) => minds.answer(request), keepRequests: false });
  try {
    const program = options.program ?? (await workerProgram(scratch));
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

/** Gives the workers their orders, and collects the results. */
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
  /** Orders common to all workers. */
  readonly #common: Common;
  readonly #atWork = new Set<Worker>();
  /** Somebody had enough. */
  #over = false;

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

  /** Runs the long-lived process. */
  async steady(): Promise<void> {
    const { together, only, ms, rowMs = 60_000 } = this.#options;
    if (together === 0 || (only !== undefined && isMortal(only))) return;
    const folder = this.#folder("steady");
    const own = only === undefined ? {} : { only };
    await this.#done("the steady process", { be: "steady", folder, ms, together, rowMs, ...own });
  }

  /** Runs the processes that are killed, era after era. */
  async mortal(): Promise<void> {
    const { only, mortals, ms } = this.#options;
    if (only !== undefined) {
      if (isMortal(only)) await this.#era(Number(/^m(\d+)-/.exec(only)?.[1] ?? 0), [only]);
      return;
    }
    const began = performance.now();
    for (let number = 0; mortals > 0 && !this.#over && performance.now() - began < ms; number += 1)
      await this.#era(
        number,
        Array.from({ length: mortals }, (_, at) => `m${number}-${at}`),
      );
  }

  /** Agents whose process is killed repeatedly until one life may complete; then their files are judged. */
  async #era(era: number, names: readonly string[]): Promise<void> {
    const folder = this.#folder(`era-${era}`);
    const chance = new Chance(this.#options.seed, "era", era);
    const acknowledged: Acknowledged = {};
    const deaths = 2 + chance.below(6);
    for (let life = 0; !this.#over; life += 1) {
      // One that makes this mistake kills itself where it shows.
      const diesItself = this.#common.mistake === "write_again" && life < 2;
      const ms = diesItself ? longestLifeMs : life < deaths ? 100 + chance.few(3_000) : undefined;
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

  /** One life, killed `ms` milliseconds after it has loaded unless it has ended by then. */
  async #life(orders: Orders, ms: number, acknowledged: Acknowledged): Promise<Ended> {
    let timer: NodeJS.Timeout | undefined;
    const worker = this.#work(orders, (word) => {
      // The code is loaded: from here on every instant counts.
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

  /** Runs a worker that must complete its orders. */
  async #done(who: string, orders: OwnOrders): Promise<void> {
    const all: Orders = { ...this.#common, ...orders };
    const ended = await this.#work(all, (word) => this.#hear(word)).ended;
    if (!ended.whole) this.#failed(who, ended);
  }

  #work(orders: Orders, hear: (word: Word) => void): Worker {
    const worker = work(this.#program, orders, hear);
    this.#atWork.add(worker);
    void worker.ended.catch(() => {}).then(() => this.#atWork.delete(worker));
    return worker;
  }

  #failed(who: string, { errors }: Ended): void {
    if (!this.#over) this.outcome.failed.push(`${who} ended by itself: ${errors}`);
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
      this.#over ||= this.#options.enough?.() === true;
      if (this.#over) for (const worker of this.#atWork) worker.kill();
    } else if (word.say === "shown") show?.(word.session, word.record);
    else if (word.say === "unhandled") this.outcome.unhandled.push(word.words);
  }
}
