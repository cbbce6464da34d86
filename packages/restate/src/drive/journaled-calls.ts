// The room of journaled calls: runs the worker's own code and stores on outside input, each call a journaled step.
//
// Schemas are user code, and whole results go to a store: the outcome is a fact like any other, with secrets removed.

import type { ObjectContext } from "@restatedev/restate-sdk";
import type { BroughtResult, CallCheck, CallKey, Fact, JsonObject } from "@rondo/core";
import { checkArgs, type OngoingWork, type Shell } from "@rondo/core/driving";
import type { ChildCame } from "./child-calls.ts";

/** What is needed to take a message, or a sub-agent's end. */
export interface Taking {
  /** Checks edited arguments against a tool's schema; undefined if there is no such tool. */
  checkEdit(tool: string, args: JsonObject): Promise<CallCheck | undefined>;
  /** The fact for a result that was given from outside, which is cut, or for the answer to a tool's question. */
  brought(call: CallKey, result: BroughtResult): Promise<Fact>;
  /** A sub-agent's answer is converted and capped like any result. */
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

/** Removes secrets before a fact is stored anywhere. */
export const cleaned = <F extends Fact>(fact: F, { redact }: Pick<Shell, "redact">): F =>
  redact === undefined ? fact : (redact(fact) as F);
