// The room of the campaign: chooses the kills, and sums up the results.
//
// A first run that is never killed shows how many boundaries there are and what the result must be. Then there is one run
// per boundary, killed there (and, by chance, again while it recovers), and runs that are killed at random instants, life
// after life. Random choices are seeded; what a random instant interrupts cannot be, and need not be.

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
  /** Number of kills at random instants. */
  kills: number;
  seed: number;
  /** Kill at every n-th boundary; 0: at none. Default: 1. */
  every?: number;
  /** Only boundaries whose names match. Default: all. */
  only?: RegExp;
  /** Number of concurrent runs. Default: 2. */
  together?: number;
  mistake?: Mistake;
  /** What `lifeProgram` made, where several campaigns share it. Default: the campaign makes its own. */
  program?: string;
  /** Stop at the first finding. Default: false. */
  bail?: boolean;
  /** Called for each finding, with its run. */
  hear?: (words: string) => void;
}

export interface Outcome {
  kills: number;
  runs: number;
  /** Number of boundaries in a run that is never killed. */
  boundaries: number;
  wrong: { readonly [wrong in Wrong]: number };
  unknown: number;
  /** How long opening the session took in the life after a kill, in milliseconds. */
  openedMs: { median: number; most: number };
}

/** Lives may be short; after this many kills a run is no longer killed. */
const mostLives = 40;

/** The program of a life, made in a folder. */
export const lifeProgram = (folder: string): Promise<string> =>
  bundled(new URL("./life.ts", import.meta.url), folder);

export async function campaign(options: Campaign): Promise<Outcome> {
  const scratch = mkdtempSync(join(tmpdir(), "rondo-crash-"));
  try {
    const program = options.program ?? (await lifeProgram(scratch));
    return await new Deaths(program, scratch, options).all();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The run that is never killed: its boundaries, result and duration. */
interface Reference {
  came: Came;
  places: string[];
  ms: number;
}

/**
 * The reference of each journal. It depends on nothing else, so campaigns that follow each other in a process share it.
 */
const references = new Map<JournalKind, Promise<Reference>>();

/** A run to play. */
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
  /** Remaining kills at random instants. */
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
    const { journal } = this.#how;
    const rehearsed = references.get(journal) ?? this.#reference();
    references.set(journal, rehearsed);
    const reference = await rehearsed;
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
    // The reference run never makes the mistake.
    const lived = await live(this.#program, orders, undefined);
    const came = await judge(folderPlace(journal, orders.folder), [lived]);
    if (came.findings.length > 0)
      throw new Error(
        `a run that is never killed goes wrong: ${came.findings.map(({ words }) => words).join("; ")}`,
      );
    const places = lived.words.flatMap((word) => (word.say === "at" ? [word.place] : []));
    return { came, places, ms: lived.ms };
  }

  /** One run for each wanted boundary. */
  #atBoundaries({ came, places }: Reference): Due[] {
    const { every = 1, only } = this.#how;
    const boundaries = places.flatMap((place, at) => (only === undefined || only.test(place) ? [at] : []));
    const skipped = Math.floor(this.#chance() * every);
    return boundaries
      .filter((_, number) => every > 0 && number % every === skipped)
      .map((at) => {
        // One in three is killed again soon after it is back.
        const again = this.#chance() < 1 / 3 ? Math.floor(this.#chance() * 12) : undefined;
        return () =>
          this.#play(`boundary-${at}`, true, came, (life) => {
            if (life === 0) return { at: "boundary", number: at };
            return life === 1 && again !== undefined ? { at: "boundary", number: again } : undefined;
          });
      });
  }

  /** A run that is killed again and again, as long as kills are left. */
  #atInstants(number: number, { came, ms }: Reference): Due {
    const own = seeded(this.#how.seed * 1_000 + number);
    return () =>
      this.#play(`instants-${number}`, false, came, () =>
        this.#left-- > 0 ? { at: "instant", ms: own() * ms } : undefined,
      );
  }

  /** One run through all its kills to its end. */
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

/** The last line: the number of kills, and the counts that must be 0. */
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
