// The room of abandoned runs: those aborted while they waited for their turn behind another.
//
// Such an abort means that run only, and not the one being driven meanwhile. When its turn comes, it is not started.

import type { ObjectContext } from "@restatedev/restate-sdk";

const key = "unwanted";
/** More than anybody aborts at once; older ones have had their turn. */
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

  /** Whether a run was abandoned; forgets it. */
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
