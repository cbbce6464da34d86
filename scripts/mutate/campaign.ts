// The room of the campaign: finds out once which tests reach which mutants, then runs every mutant against them.
//
// A mutant is killed when a test fails that passes without it, or when something hangs. A mutant that passes all tests
// that reach it has survived, also if its time limit was reached before all of them had run: so the score can only be
// too low.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Instrumented, Mutant } from "./instrument.ts";
import type { Order, Said, TestFacts, Trial, Verdict } from "./orders.ts";

export interface CampaignOptions {
  /** Test files, absolute. */
  readonly files: readonly string[];
  /** Number of concurrent worker processes. */
  readonly workers: number;
  /** Time limit in milliseconds for all tests of one mutant, counted by what they take without it. */
  readonly budgetMs: number;
  /** Files whose tests run with every mutant that they reach, however long they take. */
  readonly always?: readonly string[];
  /** Called for each verdict at once. */
  readonly tried?: (one: Tried) => void;
  /** Reports progress. */
  readonly hear?: (line: string) => void;
}

export interface Tried {
  readonly mutant: Mutant;
  /** `unmet`: no test reached it. */
  readonly verdict: Verdict | "unmet";
  /** The test that killed it. */
  readonly test?: string;
  /** Number of tests run with it. */
  readonly ran: number;
}

export interface Outcome {
  readonly tried: Tried[];
  /** Tests that fail here without any mutant: they are not used. */
  readonly unfit: { id: string; why: string }[];
  readonly tests: number;
}

/** A worker that is silent for this long hangs, in milliseconds. */
const silenceMs = 15_000;
/** Tests that take longer than this are not used, in milliseconds. */
const longestMs = 1_500;
/** Number of mutants given to a worker at once. */
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
  /** The tests that reached each mutant, and how often. */
  metBy: Map<string, Map<string, number>>;
  /** Mutants reached while the sources were loaded. */
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
      // A worker that fell silent or crashed did so because of its current mutant.
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

/** The queue of trials, those in progress, and their results. */
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

  /** Trials for one worker; none when the queue is empty. */
  next(): Trial[] {
    const [first] = this.#queue;
    const size = first?.fromTheStart || first?.fresh ? 1 : portion;
    const mine = this.#queue.splice(0, Math.min(size, Math.max(1, firstFromTheStart(this.#queue))));
    for (const trial of mine) this.#begun.set(trial.id, trial);
    return mine;
  }

  /** A worker's order. */
  orderOf(mutants: Trial[], places: Order["places"]): Order {
    const ids = new Set(mutants.flatMap((trial) => trial.tests));
    const tests = Object.fromEntries([...ids].map((id) => [id, this.#seen.tests.get(id) as TestFacts]));
    return { do: "try", places, files: [], tests, mutants, kills: Object.fromEntries(this.#kills) };
  }

  /** Puts trials at the front of the queue. */
  again(trials: readonly Trial[]): void {
    this.#queue.unshift(...trials);
  }

  settle(id: string, verdict: Verdict, ran: number, test?: string): void {
    const trial = this.#begun.get(id) as Trial;
    if (test !== undefined) this.#kills.set(test, (this.#kills.get(test) ?? 0) + 1);
    // What modules create while loading was created without the mutant, unless it was active from the start.
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

  /** The result of each mutant, in order. */
  outcome(): Tried[] {
    return [...this.#mutants.keys()].map((id) => this.#outcome.get(id) as Tried);
  }

  #note(one: Tried): void {
    this.#outcome.set(one.mutant.id, one);
    this.#options.tried?.(one);
  }
}

/** How many trials at the front of the queue can share a process. */
function firstFromTheStart(queue: readonly Trial[]): number {
  const at = queue.findIndex((trial, index) => index > 0 && (trial.fromTheStart || trial.fresh));
  return at < 0 ? queue.length : at;
}

function trialOf(mutant: Mutant, seen: Seen, options: CampaignOptions): Trial | undefined {
  const met = seen.metBy.get(mutant.id);
  const atLoad = seen.atLoad.get(mutant.id);
  if (met === undefined && atLoad === undefined) return undefined;
  // What is created while loading needs a process of its own. Later no switch shows who uses it: so run all tests that
  // test these files directly, or if there are none, all tests.
  const direct = [...seen.tests].filter(([, { file }]) => options.always?.includes(file)).map(([id]) => id);
  const all = met !== undefined ? [...met.keys()] : direct.length > 0 ? direct : [...seen.tests.keys()];
  const tests = within(all, seen.tests, options);
  return {
    id: mutant.id,
    tests,
    // Endless loops reach a mutant ever more often: at ten times the normal count it is considered hanging.
    limits: tests.map((id) => (met === undefined ? 1_000_000 : 500 + 10 * (met.get(id) ?? 0))),
    fromTheStart: met === undefined,
    fresh: false,
  };
}

/** The tests that always run, and the fastest of the others that fit into the time limit. */
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
    // It may already be gone; and where lowering its priority is forbidden, it runs at the normal one.
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
