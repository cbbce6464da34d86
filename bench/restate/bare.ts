// The room of the bare engine: what somebody writes who wants durable steps without an agent loop.
//
// One virtual object per session, as in Rondo, and for each step as many journal entries with as many bytes as Rondo
// makes. It decides, folds and checks nothing.

import { type ObjectContext, object, type VirtualObjectDefinition } from "@restatedev/restate-sdk";

export interface BareWork {
  /** For each step, the sizes of its journaled values in bytes. */
  steps: readonly (readonly number[])[];
}

type Bare = VirtualObjectDefinition<"bare", { run(ctx: ObjectContext, work: BareWork): Promise<number> }>;

/** @param stepped called when a step of a run begins */
export const bare = (stepped: (run: string, first: boolean) => void): Bare =>
  object({
    name: "bare",
    handlers: {
      run: async (ctx: ObjectContext, { steps }: BareWork): Promise<number> => {
        let bytes = 0;
        for (const [at, entries] of steps.entries()) {
          stepped(ctx.key, at === 0);
          for (const size of entries) bytes += (await ctx.run("step", () => "x".repeat(size))).length;
        }
        return bytes;
      },
    },
  });
