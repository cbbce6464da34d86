// The room of the campaign: which deaths are died, and what they came to all together.
//
// First a run that is never killed says how many boundaries there are and what must come out. Then one run for each
// boundary, killed there (and, by chance, once more on its way back), and runs that are killed at random instants of the
// clock, life after life. Chance is seeded; what an instant of the clock hits is not, and need not be.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundled } from "../bundled.ts";
import { type Death, type Lived, live } from "./lives.ts";
import type { Mistake } from "./mistakes.ts";
import { folderPlace, type JournalKind } from "./place.ts";
import { type Came, type Finding, judge, type Wrong, wrongs } from "./verdict.ts";
import type { LifeOrders } from "./wire.ts";

export interface Campaign {
  journal: JournalKind;
  /** Deaths at random instants. */
  kills: number;
  seed: number;
  /** Every so-manieth boundary; 0: none. Default: 1. */
  every?: number;
  /** Of the boundaries only those whose names match. Default: all. */
  only?: RegExp;
  /** Runs that are under way together. Default: 2. */
  together?: number;
  mistake?: Mistake;
  /** Ends at the first finding. Default: false. */
  bail?: boolean;
  /** Hears each finding, with the run it is of. */
  hear?: (words: string) => void;
}

export interface Outcome {
  kills: number;
  runs: number;
  /** Boundaries of a run that is never killed. */
  boundaries: number;
  wrong: { readonly [wrong in Wrong]: number };
  unknown: number;
  /** What it took a life after a kill to open the session, in milliseconds. */
  openedMs: { median: number; most: number };
}

/** A life may be short; whoever is killed more often than this is let live. */
const mostLives = 40;

export async function campaign(options: Campaign): Promise<Outcome> {
  const {
    journal,
    kills,
    seed,
    every = 1,
    only,
    together = 2,
    mistake,
    bail = false,
    hear = () => {},
  } = options;
  const scratch = mkdtempSync(join(tmpdir(), "rondo-crash-"));
  const chance = seeded(seed);
  const wrong: Record<Wrong, number> = { "lost run": 0, "lost record": 0, reordered: 0, "repeated write": 0 };
  const opened: number[] = [];
  let died = 0;
  let runs = 0;
  let unknown = 0;
  try {
    const program = await bundled(new URL("./life.ts", import.meta.url), scratch);
    const orders = (name: string, waits: boolean): LifeOrders => {
      const folder = join(scratch, name);
      mkdirSync(folder);
      return { journal, folder, waits, ...(mistake === undefined ? {} : { mistake }) };
    };
    const note = (name: string, findings: readonly Finding[]): void => {
      for (const finding of findings) {
        wrong[finding.wrong] += 1;
        hear(`${name}: ${finding.wrong}: ${finding.words}`);
      }
    };
    const whole = orders("whole", true);
    // Whoever makes mistakes is measured by one who makes none.
    const first = await live(program, { journal, folder: whole.folder, waits: true }, undefined);
    const reference = await judge(folderPlace(journal, whole.folder), [first]);
    if (reference.findings.length > 0)
      throw new Error(
        `a run that is never killed goes wrong: ${reference.findings.map(({ words }) => words).join("; ")}`,
      );
    const places = first.words.flatMap((word) => (word.say === "at" ? [word.place] : []));
    const boundaries = places.flatMap((place, at) => (only === undefined || only.test(place) ? [at] : []));

    /** One run, through all its deaths, to its end. */
    const play = async (name: string, waits: boolean, death: (life: number) => Death): Promise<Came> => {
      const own = orders(name, waits);
      const lives: Lived[] = [];
      for (let life = 0; life <= mostLives; life += 1) {
        const lived = await live(program, own, life < mostLives ? death(life) : undefined);
        for (const word of lived.words) if (word.say === "open" && life > 0) opened.push(word.ms);
        lives.push(lived);
        if (lived.killed) died += 1;
        if (lived.ended || !lived.killed) break;
      }
      runs += 1;
      const came = await judge(folderPlace(journal, own.folder), lives, reference);
      unknown += came.unknown;
      note(name, came.findings);
      rmSync(own.folder, { recursive: true });
      return came;
    };

    const due: (() => Promise<unknown>)[] = [];
    const skipped = Math.floor(chance() * every);
    for (const at of boundaries.filter((_, number) => every > 0 && number % every === skipped)) {
      // One in three dies again soon after it is back.
      const again = chance() < 1 / 3 ? Math.floor(chance() * 12) : undefined;
      due.push(() =>
        play(`boundary-${at}`, true, (life) => {
          if (life === 0) return { at: "boundary", number: at };
          return life === 1 && again !== undefined ? { at: "boundary", number: again } : undefined;
        }),
      );
    }
    const instants = (number: number): (() => Promise<unknown>) => {
      const own = seeded(seed * 1_000 + number);
      return () =>
        play(`instants-${number}`, false, () =>
          left-- > 0 ? { at: "instant", ms: own() * first.ms } : undefined,
        );
    };
    let left = kills;
    let number = 0;
    const over = (): boolean => bail && wrongs.some((one) => wrong[one] > 0);
    const work = async (): Promise<void> => {
      while (!over()) {
        const next = due.shift() ?? (left > 0 ? instants(number++) : undefined);
        if (next === undefined) return;
        await next();
      }
    };
    await Promise.all(Array.from({ length: together }, work));
    opened.sort((one, other) => one - other);
    return {
      kills: died,
      runs,
      boundaries: places.length,
      wrong,
      unknown,
      openedMs: { median: opened[opened.length >> 1] ?? 0, most: opened.at(-1) ?? 0 },
    };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The last line: how many kills, and what must be nothing. */
export function summaryOf({ kills, wrong, unknown }: Outcome): string {
  const many = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;
  return [
    many(kills, "kill", "kills"),
    many(wrong["lost run"], "lost run", "lost runs"),
    many(wrong["lost record"], "lost record", "lost records"),
    `${wrong.reordered} reordered`,
    many(wrong["repeated write"], "repeated write", "repeated writes"),
    `${unknown} unknown`,
  ].join(", ");
}

export const isClean = ({ wrong }: Outcome): boolean => wrongs.every((one) => wrong[one] === 0);

/** Chance that comes out the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
