// The room of the campaign: looks once at which tests meet which mutants, then tries every mutant against them.
//
// Killed means that a test failed which passes without the mutant, or that something came to hang. What the tests that
// met it let pass has survived, even where the time for one mutant was over before all of them were tried: the score can
// only be too low.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Instrumented, Mutant } from "./instrument.ts";
import type { Order, Said, TestFacts, Trial, Verdict } from "./orders.ts";

export interface CampaignOptions {
  /** Files with tests, absolute. */
  readonly files: readonly string[];
  /** Worker processes at once. */
  readonly workers: number;
  /** What the tests tried with one mutant may take together, by what they take without, in milliseconds. */
  readonly budgetMs: number;
  /** Files whose tests are tried with every mutant that they meet, whatever time they take. */
  readonly always?: readonly string[];
  /** Hears each verdict at once. */
  readonly tried?: (one: Tried) => void;
  /** Hears how far it is. */
  readonly hear?: (line: string) => void;
}

export interface Tried {
  readonly mutant: Mutant;
  /** `unmet`: no test came by it. */
  readonly verdict: Verdict | "unmet";
  /** The test that killed it. */
  readonly test?: string;
  /** How many tests were run with it. */
  readonly ran: number;
}

export interface Outcome {
  readonly tried: Tried[];
  /** Tests that do not pass without any mutant, here: they judge nothing. */
  readonly unfit: { id: string; why: string }[];
  readonly tests: number;
}

/** A worker that says nothing for so long is hanging, in milliseconds. */
const silenceMs = 15_000;
/** Tests that take longer than this judge nothing, in milliseconds. */
const longestMs = 1_500;
/** Mutants a worker is given at once. */
const portion = 200;

export async function campaign(
  { mutants, sources }: Instrumented,
  options: CampaignOptions,
): Promise<Outcome> {
  const scratch = mkdtempSync(join(tmpdir(), "rondo-mutate-"));
  try {
    const places: Record<string, string> = {};
    for (const [at, [path, text]] of [...sources].entries()) {
      const place = join(scratch, `${at}.ts`);
      writeFileSync(place, text);
      places[path] = place;
    }
    const began = performance.now();
    const seen = await look(scratch, places, options);
    options.hear?.(
      `looked in ${Math.round(performance.now() - began)} ms: ${seen.tests.size} tests, ${seen.unfit.length} unfit`,
    );
    const tried = await tryAll(
      mutants.filter(({ leftOut }) => leftOut === undefined),
      seen,
      scratch,
      places,
      options,
    );
    return { tried, unfit: seen.unfit, tests: seen.tests.size };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

interface Seen {
  tests: Map<string, TestFacts>;
  /** The tests that met each mutant, and how often. */
  metBy: Map<string, Map<string, number>>;
  /** Mutants met while the sources were loaded. */
  atLoad: Map<string, number>;
  unfit: { id: string; why: string }[];
}

async function look(scratch: string, places: Order["places"], options: CampaignOptions): Promise<Seen> {
  const seen: Seen = { tests: new Map(), metBy: new Map(), atLoad: new Map(), unfit: [] };
  const share = Math.ceil(options.files.length / options.workers);
  const shares = Array.from({ length: options.workers }, (_, at) =>
    options.files.slice(at * share, (at + 1) * share),
  ).filter((files) => files.length > 0);
  await Promise.all(
    shares.map((files, at) =>
      worker(join(scratch, `look-${at}.json`), { do: "look", places, files }, 180_000, (said) => {
        if (said.said === "test") {
          if (!said.ok) seen.unfit.push({ id: said.id, why: said.why ?? "" });
          else if (said.ms <= longestMs)
            seen.tests.set(said.id, { file: said.file, ms: said.ms, asked: said.asked });
          else seen.unfit.push({ id: said.id, why: `takes ${Math.round(said.ms)} ms` });
        }
        if (said.said !== "met") return;
        for (const [id, times] of said.mutants)
          if (said.test === "") seen.atLoad.set(id, Math.max(times, seen.atLoad.get(id) ?? 0));
          else if (seen.tests.has(said.test)) {
            const one = seen.metBy.get(id) ?? new Map<string, number>();
            one.set(said.test, times);
            seen.metBy.set(id, one);
          }
      }).then((ended) => {
        if (ended !== "done") throw new Error(`the tests could not be looked at: the worker ${ended}`);
      }),
    ),
  );
  return seen;
}

async function tryAll(
  mutants: readonly Mutant[],
  seen: Seen,
  scratch: string,
  places: Order["places"],
  options: CampaignOptions,
): Promise<Tried[]> {
  const trials = new Trials(mutants, seen, options);
  let number = 0;
  const lane = async (): Promise<void> => {
    for (let mine = trials.next(); mine.length > 0; mine = trials.next()) {
      const left = new Set(mine.map(({ id }) => id));
      let trying: string | undefined;
      number += 1;
      const order = trials.orderOf(mine, places);
      const ended = await worker(join(scratch, `try-${number}.json`), order, silenceMs, (said) => {
        if (said.said === "trying") trying = said.id;
        if (said.said !== "verdict") return;
        left.delete(said.id);
        trying = undefined;
        trials.settle(said.id, said.verdict, said.ran, said.test);
      });
      // A worker that fell silent, or fell, did so for the mutant it had on.
      if (trying !== undefined && ended !== "stained") {
        left.delete(trying);
        trials.settle(trying, "hung", 1);
      } else if (trying === undefined && ended !== "stained" && left.size > 0)
        throw new Error(`a worker ${ended} before it tried anything`);
      trials.again(
        mine
          .filter(({ id }) => left.has(id))
          .map((one) => (one.id === trying ? { ...one, fresh: true } : one)),
      );
    }
  };
  await Promise.all(Array.from({ length: options.workers }, lane));
  return trials.outcome();
}

/** What is to be tried, what is being tried, and what came of it. */
class Trials {
  readonly #mutants: ReadonlyMap<string, Mutant>;
  readonly #seen: Seen;
  readonly #options: CampaignOptions;
  readonly #queue: Trial[] = [];
  readonly #begun = new Map<string, Trial>();
  readonly #outcome = new Map<string, Tried>();
  /** How many mutants each test has killed. */
  readonly #kills = new Map<string, number>();
  readonly #began = performance.now();

  constructor(mutants: readonly Mutant[], seen: Seen, options: CampaignOptions) {
    this.#mutants = new Map(mutants.map((mutant) => [mutant.id, mutant]));
    this.#seen = seen;
    this.#options = options;
    for (const mutant of mutants) {
      const trial = trialOf(mutant, seen, options);
      if (trial === undefined) this.#note({ mutant, verdict: "unmet", ran: 0 });
      else this.#queue.push(trial);
    }
  }

  /** Trials for one worker; none when all are given out. */
  next(): Trial[] {
    const [first] = this.#queue;
    const size = first?.fromTheStart || first?.fresh ? 1 : portion;
    const mine = this.#queue.splice(0, Math.min(size, Math.max(1, firstFromTheStart(this.#queue))));
    for (const trial of mine) this.#begun.set(trial.id, trial);
    return mine;
  }

  /** What a worker is told. */
  orderOf(mutants: Trial[], places: Order["places"]): Order {
    const ids = new Set(mutants.flatMap((trial) => trial.tests));
    const tests = Object.fromEntries([...ids].map((id) => [id, this.#seen.tests.get(id) as TestFacts]));
    return { do: "try", places, files: [], tests, mutants, kills: Object.fromEntries(this.#kills) };
  }

  /** To be tried before all others. */
  again(trials: readonly Trial[]): void {
    this.#queue.unshift(...trials);
  }

  settle(id: string, verdict: Verdict, ran: number, test?: string): void {
    const trial = this.#begun.get(id) as Trial;
    if (test !== undefined) this.#kills.set(test, (this.#kills.get(test) ?? 0) + 1);
    // What is made while loading is made without the mutant, unless it was on before.
    if (verdict === "survived" && !trial.fromTheStart && this.#seen.atLoad.has(id)) {
      this.#queue.push({ ...trial, fromTheStart: true, fresh: false });
      return;
    }
    const mutant = this.#mutants.get(id) as Mutant;
    this.#note({ mutant, verdict, ran, ...(test === undefined ? {} : { test }) });
    if (this.#outcome.size % 200 === 0) {
      const seconds = Math.round((performance.now() - this.#began) / 1_000);
      this.#options.hear?.(`${this.#outcome.size} of ${this.#mutants.size} mutants, ${seconds} s`);
    }
  }

  /** What came of each mutant, in their order. */
  outcome(): Tried[] {
    return [...this.#mutants.keys()].map((id) => this.#outcome.get(id) as Tried);
  }

  #note(one: Tried): void {
    this.#outcome.set(one.mutant.id, one);
    this.#options.tried?.(one);
  }
}

/** How many trials at the front of the queue may share a process. */
function firstFromTheStart(queue: readonly Trial[]): number {
  const at = queue.findIndex((trial, index) => index > 0 && (trial.fromTheStart || trial.fresh));
  return at < 0 ? queue.length : at;
}

function trialOf(mutant: Mutant, seen: Seen, options: CampaignOptions): Trial | undefined {
  const met = seen.metBy.get(mutant.id);
  const atLoad = seen.atLoad.get(mutant.id);
  if (met === undefined && atLoad === undefined) return undefined;
  // What is made while loading wants a process of its own. Whoever looks at it meets no switch any more: all tests are
  // asked that ask the rooms directly, or where there are none, all there are.
  const direct = [...seen.tests].filter(([, { file }]) => options.always?.includes(file)).map(([id]) => id);
  const all = met !== undefined ? [...met.keys()] : direct.length > 0 ? direct : [...seen.tests.keys()];
  const tests = within(all, seen.tests, options);
  return {
    id: mutant.id,
    tests,
    // Endless loops make ever longer histories: what is met ten times as often as it should be will not come to an end.
    limits: tests.map((id) => (met === undefined ? 1_000_000 : 500 + 10 * (met.get(id) ?? 0))),
    fromTheStart: met === undefined,
    fresh: false,
  };
}

/** The tests that are always tried, and the quickest of the others that fit into the time. */
function within(
  ids: readonly string[],
  tests: ReadonlyMap<string, TestFacts>,
  { budgetMs, always = [] }: CampaignOptions,
): string[] {
  const ms = (id: string): number => {
    const one = tests.get(id);
    return one === undefined || always.includes(one.file) ? 0 : one.ms;
  };
  let sum = 0;
  return [...ids]
    .sort((a, b) => ms(a) - ms(b))
    .filter((id, at) => {
      sum += ms(id);
      return at === 0 || sum <= budgetMs;
    });
}

/** Runs a worker to its end. */
function worker(
  place: string,
  order: Order,
  silence: number,
  hear: (said: Said) => void,
): Promise<"done" | "stained" | "fell" | "fell silent"> {
  writeFileSync(place, JSON.stringify(order));
  const child: ChildProcess = spawn(
    process.execPath,
    [
      "--conditions=rondo-source",
      "--disable-warning=ExperimentalWarning",
      "--max-old-space-size=2048",
      join(import.meta.dirname, "worker-main.ts"),
      place,
    ],
    {
      stdio: ["ignore", "ignore", process.env.RONDO_MUTATE_LOUD ? "inherit" : "ignore", "pipe"],
      detached: true,
    },
  );
  try {
    setPriority(child.pid as number, constants.priority.PRIORITY_LOW);
  } catch {
    // It may be gone already; and a machine that forbids it is only less polite.
  }
  return new Promise((resolve, reject) => {
    let ended: "done" | "stained" | "fell" | "fell silent" = "fell";
    const giveUp = (): void => {
      ended = "fell silent";
      child.kill("SIGKILL");
    };
    let timer = setTimeout(giveUp, silence);
    const lines = createInterface({ input: child.stdio[3] as Readable });
    lines.on("line", (line) => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, silence);
      const said = JSON.parse(line) as Said;
      if (said.said === "done" || said.said === "stained") ended = said.said;
      else hear(said);
    });
    lines.once("close", () => {
      clearTimeout(timer);
      rmSync(place, { force: true });
      resolve(ended);
    });
    child.once("error", reject);
  });
}
