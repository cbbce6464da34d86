// The room of the campaign: which deaths are died, and what they came to all together.
//
// First a run that is never killed says how many boundaries there are and what must come out. Then one run for each
// boundary, killed there (and, by chance, once more on its way back), and runs that are killed at random instants of the
// clock, life after life. Chance is seeded; what an instant of the clock hits is not, and need not be.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundled } from "../bundled.ts";
import { seeded } from "../chance.ts";
import { type Death, type Lived, live } from "./lives.ts";
import type { Mistake } from "./mistakes.ts";
import { folderPlace, type JournalKind } from "./place.ts";
import { type Came, judge, nothingWrong, type Wrong, wrongs } from "./verdict.ts";
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
  const scratch = mkdtempSync(join(tmpdir(), "rondo-crash-"));
  try {
    const program = await bundled(new URL("./life.ts", import.meta.url), scratch);
    return await new Deaths(program, scratch, options).all();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What a run that is never killed comes to: how its boundaries are called, and how long it takes. */
interface Reference {
  came: Came;
  places: string[];
  ms: number;
}

/** A run that is due. */
type Due = () => Promise<void>;

class Deaths {
  readonly #program: string;
  readonly #scratch: string;
  readonly #how: Campaign;
  readonly #chance: () => number;
  readonly #wrong = nothingWrong();
  readonly #opened: number[] = [];
  #died = 0;
  #runs = 0;
  #unknown = 0;
  /** Deaths at random instants that are left to die. */
  #left: number;

  constructor(program: string, scratch: string, how: Campaign) {
    this.#program = program;
    this.#scratch = scratch;
    this.#how = how;
    this.#chance = seeded(how.seed);
    this.#left = how.kills;
  }

  async all(): Promise<Outcome> {
    const { together = 2, bail = false } = this.#how;
    const reference = await this.#reference();
    const due = this.#atBoundaries(reference);
    let number = 0;
    const over = (): boolean => bail && wrongs.some((one) => this.#wrong[one] > 0);
    const work = async (): Promise<void> => {
      while (!over()) {
        const next = due.shift() ?? (this.#left > 0 ? this.#atInstants(number++, reference) : undefined);
        if (next === undefined) return;
        await next();
      }
    };
    await Promise.all(Array.from({ length: together }, work));
    const opened = this.#opened.sort((one, other) => one - other);
    return {
      kills: this.#died,
      runs: this.#runs,
      boundaries: reference.places.length,
      wrong: this.#wrong,
      unknown: this.#unknown,
      openedMs: { median: opened[opened.length >> 1] ?? 0, most: opened.at(-1) ?? 0 },
    };
  }

  async #reference(): Promise<Reference> {
    const { journal } = this.#how;
    const { mistake: _, ...orders } = this.#orders("whole", true);
    // Whoever makes mistakes is measured by one who makes none.
    const lived = await live(this.#program, orders, undefined);
    const came = await judge(folderPlace(journal, orders.folder), [lived]);
    if (came.findings.length > 0)
      throw new Error(
        `a run that is never killed goes wrong: ${came.findings.map(({ words }) => words).join("; ")}`,
      );
    const places = lived.words.flatMap((word) => (word.say === "at" ? [word.place] : []));
    return { came, places, ms: lived.ms };
  }

  /** A run for each boundary that is wanted. */
  #atBoundaries({ came, places }: Reference): Due[] {
    const { every = 1, only } = this.#how;
    const boundaries = places.flatMap((place, at) => (only === undefined || only.test(place) ? [at] : []));
    const skipped = Math.floor(this.#chance() * every);
    return boundaries
      .filter((_, number) => every > 0 && number % every === skipped)
      .map((at) => {
        // One in three dies again soon after it is back.
        const again = this.#chance() < 1 / 3 ? Math.floor(this.#chance() * 12) : undefined;
        return () =>
          this.#play(`boundary-${at}`, true, came, (life) => {
            if (life === 0) return { at: "boundary", number: at };
            return life === 1 && again !== undefined ? { at: "boundary", number: again } : undefined;
          });
      });
  }

  /** A run that dies again and again, as long as deaths are left. */
  #atInstants(number: number, { came, ms }: Reference): Due {
    const own = seeded(this.#how.seed * 1_000 + number);
    return () =>
      this.#play(`instants-${number}`, false, came, () =>
        this.#left-- > 0 ? { at: "instant", ms: own() * ms } : undefined,
      );
  }

  /** One run, through all its deaths, to its end. */
  async #play(name: string, waits: boolean, reference: Came, death: (life: number) => Death): Promise<void> {
    const { journal, hear = () => {} } = this.#how;
    const orders = this.#orders(name, waits);
    const lives: Lived[] = [];
    for (let life = 0; life <= mostLives; life += 1) {
      const lived = await live(this.#program, orders, life < mostLives ? death(life) : undefined);
      for (const word of lived.words) if (word.say === "open" && life > 0) this.#opened.push(word.ms);
      lives.push(lived);
      if (lived.killed) this.#died += 1;
      if (lived.ended || !lived.killed) break;
    }
    this.#runs += 1;
    const came = await judge(folderPlace(journal, orders.folder), lives, reference);
    this.#unknown += came.unknown;
    for (const finding of came.findings) {
      this.#wrong[finding.wrong] += 1;
      hear(`${name}: ${finding.wrong}: ${finding.words}`);
    }
    rmSync(orders.folder, { recursive: true });
  }

  #orders(name: string, waits: boolean): LifeOrders {
    const { journal, mistake } = this.#how;
    const folder = join(this.#scratch, name);
    mkdirSync(folder);
    return { journal, folder, waits, ...(mistake === undefined ? {} : { mistake }) };
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
