// The room of abandoned runs: those that were given up while they waited for their turn behind another.
//
// Whoever gives one up means that one, and not the run that is driven meanwhile. It is not begun when its turn comes.

import type { ObjectContext } from "@restatedev/restate-sdk";

const key = "unwanted";
/** More than anybody gives up at once; what is older has had its turn. */
const most = 64;

export class AbandonedRuns {
  readonly #ctx: ObjectContext;
  #runs: readonly string[];

  private constructor(ctx: ObjectContext, runs: readonly string[]) {
    this.#ctx = ctx;
    this.#runs = runs;
  }

  /** @param keys of the object's state */
  static async in(ctx: ObjectContext, keys: readonly string[]): Promise<AbandonedRuns> {
    return new AbandonedRuns(ctx, (keys.includes(key) ? await ctx.get<string[]>(key) : null) ?? []);
  }

  add(run: string): void {
    this.#keep([...this.#runs, run].slice(-most));
  }

  /** Whether its turn comes for nothing. */
  take(run: string | undefined): boolean {
    if (run === undefined || !this.#runs.includes(run)) return false;
    this.#keep(this.#runs.filter((one) => one !== run));
    return true;
  }

  #keep(runs: readonly string[]): void {
    this.#runs = runs;
    if (runs.length === 0) this.#ctx.clear(key);
    else this.#ctx.set(key, runs);
  }
}
