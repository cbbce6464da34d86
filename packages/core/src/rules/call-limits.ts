// The room of limited calls: at most so many calls of a tool in a run.
//
// What counts is a call that was judged to run, whatever came of it: a restart after a crash is the same call. A call above
// the limit is answered and does not run. If the model makes no other calls in two turns one after the other, it learns
// nothing more, and the run lands.

import { type Check, checkGiven, either, membersOf, recordOf, some, whole } from "../checks.ts";
import type { Call, State } from "../loop/state.ts";
import { missingTool } from "./named-tools.ts";
import type { Decision, Rule } from "./rule.ts";

/** Names of tools, and how many calls each may have. */
type CallLimits = Readonly<Record<string, number>>;

/** `tool`: absent if it limits the calls of all tools together. */
interface Limit {
  readonly tool?: string;
  readonly max: number;
}

interface Memory {
  /** Calls so far, by the tool of their limit. */
  readonly counts: ReadonlyMap<string | undefined, number>;
  /** What limited the last call of each turn in a row in which every call was above a limit. */
  readonly refused: readonly (Limit | undefined)[];
}

const mostRefused = 2;

const ownOptions: Check = membersOf<{ max: number | CallLimits }>(
  { max: either(whole, some(recordOf(whole), "the name of a tool, and a number")) },
  ["max"],
);

/**
 * Limits the calls of a run. A call above the limit is answered in the words of `limitRefusal`; if in two turns in a row
 * there are no other calls, the run lands with `tool_call_limit`.
 * @param max calls of all tools together, or of single ones by name: `maxCalls({ search: 3 })`. 0: none
 * @throws RondoError `invalid_request` for anything but whole numbers
 */
export function maxCalls(max: number | CallLimits): Rule {
  checkGiven(ownOptions, { max }, "maxCalls");
  const limits = new Map(
    Object.entries(typeof max === "number" ? {} : max).map(([tool, most]) => [tool, { tool, max: most }]),
  );
  const limitOf = (tool: string): Limit | undefined => (typeof max === "number" ? { max } : limits.get(tool));
  const rule: Rule<Memory> = {
    name: "max_calls",
    version: 2,
    verify(options) {
      const missing = missingTool(limits.keys(), options);
      return missing === undefined ? undefined : `maxCalls limits ${missing}`;
    },
    init: () => ({ counts: new Map(), refused: [] }),
    fold: {
      turn_judged(memory, { verdicts }, before) {
        // A model call that failed is no turn.
        if (before.run?.failure !== undefined) return memory;
        const calls = callsIn(before);
        const counts = new Map(memory.counts);
        for (const { name } of calls.filter((_, at) => verdicts[at]?.do === "run")) {
          const tool = limitOf(name)?.tool;
          counts.set(tool, (counts.get(tool) ?? 0) + 1);
        }
        const last = calls.at(-1);
        const areAbove = last !== undefined && verdicts.every((one) => one.rule === "max_calls");
        return { counts, refused: areAbove ? [...memory.refused, limitOf(last.name)] : [] };
      },
    },
    decide({ refused }): Decision | undefined {
      const limit = refused[mostRefused - 1];
      return (
        limit && {
          do: "land",
          reason: "tool_call_limit",
          evidence: { ...limit, refusedTurns: refused.length },
        }
      );
    },
    judgeCall({ counts }, call, state, texts) {
      const limit = limitOf(call.name);
      if (limit === undefined) return undefined;
      const { tool, max: most } = limit;
      // The calls of one answer are judged one after the other, and counted together afterwards.
      const calls = callsIn(state);
      const before = calls.slice(
        0,
        calls.findIndex((one) => one.key === call.key),
      );
      const others = before.filter(({ name, check }) => check.ok && limitOf(name)?.tool === tool);
      if ((counts.get(tool) ?? 0) + others.length < most) return undefined;
      const reason = `at most ${most} ${most === 1 ? "call" : "calls"}${tool === undefined ? "" : ` of ${tool}`}`;
      return {
        do: "answer",
        code: "limit",
        text: texts.limitRefusal(call.name, reason),
        evidence: { ...limit },
      };
    },
  };
  return rule as Rule;
}

/** The calls of the answer that is being judged. */
const callsIn = ({ run }: State): readonly Call[] => run?.turn?.calls ?? [];
