// The bare engine's own handler: what somebody writes who wants durable steps and no agent loop.
//
// One virtual object per session, as Rondo has it, and of each step the journal entries that it is told: as many as Rondo
// makes, each with as many bytes. Nothing is decided, folded or checked.

import { type ObjectContext, object } from "@restatedev/restate-sdk";

export interface BareWork {
  steps: number;
  /** The bytes of each journaled value of a step. */
  entries: readonly number[];
}

/** @param stepped told after each step */
export const bare = (stepped: () => void): ReturnType<typeof object> =>
  object({
    name: "bare",
    handlers: {
      run: async (ctx: ObjectContext, { steps, entries }: BareWork): Promise<number> => {
        let bytes = 0;
        for (let step = 0; step < steps; step += 1) {
          for (const size of entries) bytes += (await ctx.run("step", () => "x".repeat(size))).length;
          stepped();
        }
        return bytes;
      },
    },
  });
