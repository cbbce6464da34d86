// The room of the campaign: a provider that misbehaves, a process that lives, processes that die, and the sum of it all.
//
// The provider is here, so that it outlives whoever is killed. Two kinds of workers share it: one process with hundreds
// of agents that lives to the end and whose heap is measured, and eras of agents whose process is killed again and again
// until it is let live; each era is then judged from its files by a process that was no part of it.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rondoWire, type WireName } from "@rondo/testkit/wire";
import { bundled } from "../bundled.ts";
import { Chance } from "../chance.ts";
import { isMortal, Minds } from "./mind.ts";
import type { Mistake } from "./mistakes.ts";
import { type Acknowledged, keepAcknowledged } from "./mortal.ts";
import { protocolNames } from "./plan.ts";
import type { Addresses } from "./scene.ts";
import type { HeapRow, Judged, Orders, Word } from "./words.ts";
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
  const { seed, only, mistake, hear = () => {}, show } = options;
  const scratch = mkdtempSync(join(tmpdir(), "rondo-chaos-"));
  const minds = new Minds(seed);
  const wire = await rondoWire({ script: (request) => minds.answer(request), keepRequests: false });
  const outcome = {
    judged: 0,
    heap: [] as HeapRow[],
    kills: 0,
    lives: 0,
    eras: 0,
    unhandled: [] as string[],
    failed: [] as string[],
  };
  const heard = (word: Word): void => {
    if (word.say === "over") minds.forget(word.name);
    else if (word.say === "heap") {
      outcome.heap.push(word.row);
      hear(word.row);
    } else if (word.say === "judged") {
      outcome.judged += 1;
      hear(word.judged);
    } else if (word.say === "shown") show?.(word.session, word.record);
    else if (word.say === "unhandled") outcome.unhandled.push(word.words);
  };
  try {
    const program = await bundled(new URL("./worker-main.ts", import.meta.url), scratch);
    const addresses = Object.fromEntries(
      protocolNames.map((name) => [name, wire.urlFor(name as WireName)]),
    ) as Addresses;
    const common = {
      seed,
      addresses,
      ...(mistake === undefined ? {} : { mistake }),
      ...(only === undefined || show === undefined ? {} : { shows: true as const }),
    };
    const failed = (who: string, { errors }: Ended): void =>
      void outcome.failed.push(`${who} ended by itself: ${errors}`);
    const began = performance.now();
    const time = (): number => performance.now() - began;

    const steady = async (): Promise<void> => {
      if (options.together === 0 || (only !== undefined && isMortal(only))) return;
      const folder = join(scratch, "steady");
      mkdirSync(folder);
      const { ms, together, rowMs = 60_000 } = options;
      const orders: Orders = { ...common, be: "steady", folder, ms, together, rowMs, ...(only && { only }) };
      const ended = await work(program, orders, heard).ended;
      if (!ended.whole) failed("the steady process", ended);
    };

    const era = async (number: number, names: readonly string[]): Promise<void> => {
      const folder = join(scratch, `era-${number}`);
      mkdirSync(folder);
      const chance = new Chance(seed, "era", number);
      const acknowledged: Acknowledged = {};
      const deaths = 2 + chance.below(6);
      for (let life = 0; ; life += 1) {
        const ms = life < deaths ? 100 + chance.few(3_000) : undefined;
        let timer: NodeJS.Timeout | undefined;
        const orders: Orders = { ...common, be: "mortal", folder, era: number, names, life };
        const worker = work(program, orders, (word) => {
          // Whose life it is was loaded: from here on every instant counts.
          if (word.say === "up") timer = setTimeout(() => worker.kill(), ms ?? longestLifeMs);
          else if (word.say === "stored") {
            acknowledged[word.session] ??= [];
            const own = acknowledged[word.session] ?? [];
            word.digests.forEach((digest, at) => {
              own[word.from + at] = digest;
            });
          } else if (word.say !== "over") heard(word);
        });
        const ended = await worker.ended;
        clearTimeout(timer);
        outcome.lives += 1;
        if (ended.killed) outcome.kills += 1;
        if (ended.whole) break;
        if (!ended.killed || ms === undefined) {
          failed(`life ${life} of era ${number}${ms === undefined ? ", which hung and" : ""}`, ended);
          break;
        }
      }
      keepAcknowledged(folder, acknowledged);
      const orders: Orders = { ...common, be: "judge", folder, era: number, names };
      const ended = await work(program, orders, heard).ended;
      if (!ended.whole) failed(`the judge of era ${number}`, ended);
      for (const name of names) minds.forget(name);
      outcome.eras += 1;
      rmSync(folder, { recursive: true, force: true });
    };

    const mortal = async (): Promise<void> => {
      if (only !== undefined)
        return isMortal(only) ? era(Number(/^m(\d+)-/.exec(only)?.[1] ?? 0), [only]) : undefined;
      for (let number = 0; options.mortals > 0 && time() < options.ms; number += 1)
        await era(
          number,
          Array.from({ length: options.mortals }, (_, at) => `m${number}-${at}`),
        );
    };

    await Promise.all([steady(), mortal()]);
  } finally {
    await wire.close();
    rmSync(scratch, { recursive: true, force: true });
  }
  return {
    ...outcome,
    requests: minds.requests,
    faults: minds.played,
    violations: wire.violations.map(({ path, message }) => `${path}: ${message}`),
    problems: [...wire.problems],
  };
}
