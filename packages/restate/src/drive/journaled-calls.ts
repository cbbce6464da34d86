// The room of journaled calls: what code and stores of the worker's make of what comes from elsewhere, each a step that Restate writes down.
//
// Schemas are user code, and whole results go to a store: what comes of that is a fact like any other, and holds no secret.

import type { ObjectContext } from "@restatedev/restate-sdk";
import type { BroughtResult, CallCheck, CallKey, CallResult, Fact, JsonObject } from "@rondo/core";
import { checkArgs, type OngoingWork, type Shell } from "@rondo/core/driving";
import type { ChildCame } from "./child-calls.ts";

/** What a word, or a sub-agent's end, is taken with. */
export interface Taking {
  /** Checks edited arguments against the schema of a tool; undefined where there is no such tool. */
  checkEdit(tool: string, args: JsonObject): Promise<CallCheck | undefined>;
  /** Cuts a result that somebody brings. */
  brought(call: CallKey, result: BroughtResult): Promise<CallResult>;
  /** What a sub-agent answers is told and cut like any result. */
  told(came: ChildCame): Promise<ChildCame>;
}

export function takingOf(ctx: ObjectContext, shell: Shell, ongoing: () => OngoingWork): Taking {
  return {
    checkEdit: async (name, args) => {
      const tool = shell.tools.get(name);
      if (tool === undefined) return undefined;
      return ctx.run("check edit", async () => {
        const check = await checkArgs(tool, args);
        const approval = { answer: "edit", args, check } as const;
        return cleaned({ type: "approval_given", call: "0.0", approval } as const, shell).approval.check;
      });
    },
    brought: (call, result) => ctx.run("cut result", async () => ongoing().brought(call, result)),
    told: async (came) => {
      const { call, fact, threw } = came;
      if (fact.type !== "tool_finished") return came;
      const result = await ctx.run("cut result", async () => ongoing().returned(call, fact.result, threw));
      return { ...came, fact: { ...fact, result } };
    },
  };
}

/** Secrets are taken out before anybody keeps what they are in. */
export const cleaned = <F extends Fact>(fact: F, { redact }: Pick<Shell, "redact">): F =>
  redact === undefined ? fact : (redact(fact) as F);
