// The bare engine's own handler: what somebody writes who wants durable steps and no agent loop.
//
// One virtual object per session, as Rondo has it, and of each step the journal entries that it is told: as many as Rondo
// makes, each with as many bytes. Nothing is decided, folded or checked.

import { type ObjectContext, object, type VirtualObjectDefinition } from "@restatedev/restate-sdk";

export interface BareWork {
  /** Of each step the bytes of each journaled value. */
  steps: readonly (readonly number[])[];
}

type Bare = VirtualObjectDefinition<"bare", { run(ctx: ObjectContext, work: BareWork): Promise<number> }>;

/** @param stepped told when a step of a run begins */
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
