// The room of limited calls: at most so many calls of a tool in a run.
//
// What counts is a call that was judged to run, whatever came of it: a restart after a crash is the same call. A call above
// the limit is answered and does not run. If the model makes no other calls in two turns one after the other, it learns
// nothing more, and the run lands.

import { hint } from "../checks/nearest.ts";
import { type Check, checkGiven, either, membersOf, recordOf, some, whole } from "../checks.ts";
import type { Call, State } from "../loop/state.ts";
import type { Decision, Rule } from "./rule.ts";

/** Names of tools, and how many calls each may have. */
type CallLimits = Readonly<Record<string, number>>;

interface Memory {
  /** Calls so far, by what limits them. */
  readonly counts: ReadonlyMap<string, number>;
  /** In how many turns, up to the last one, every call was above a limit. */
  readonly refused: number;
  /** What refused the last of them. */
  readonly last?: string;
}

const mostRefused = 2;

/** The name of the limit for all calls: no tool can have it. */
const allTools = "";

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
  const limits = new Map(typeof max === "number" ? [[allTools, max]] : Object.entries(max));
  /** What limits the calls of a tool, if anything does. */
  const limitOf = (tool: string): string | undefined =>
    typeof max === "number" ? allTools : limits.has(tool) ? tool : undefined;
  const rule: Rule<Memory> = {
    name: "max_calls",
    version: 1,
    verify({ tools }) {
      const known = tools.map((one) => one.definition.name);
      const unknown = [...limits.keys()].find((tool) => tool !== allTools && !known.includes(tool));
      if (unknown === undefined) return undefined;
      const there = known.length === 0 ? "there are no tools" : hint(unknown, known);
      return `maxCalls limits ${JSON.stringify(unknown)}, and there is no such tool; ${there}`;
    },
    init: () => ({ counts: new Map(), refused: 0 }),
    fold: {
      turn_judged(memory, { verdicts }, { run }) {
        const calls = run?.turn?.calls ?? [];
        if (calls.length === 0) return memory;
        const counts = new Map(memory.counts);
        for (const [at, { name }] of calls.entries()) {
          const limit = verdicts[at]?.do === "run" ? limitOf(name) : undefined;
          if (limit !== undefined) counts.set(limit, (counts.get(limit) ?? 0) + 1);
        }
        const isRefused = verdicts.every((one) => one.do === "answer" && one.rule === "max_calls");
        const last = isRefused ? limitOf(calls.at(-1)?.name ?? "") : undefined;
        return last === undefined ? { counts, refused: 0 } : { counts, refused: memory.refused + 1, last };
      },
    },
    decide({ refused, last }): Decision | undefined {
      if (refused < mostRefused || last === undefined) return undefined;
      const evidence = { ...named(last), max: limits.get(last) ?? 0, refusedTurns: refused };
      return { do: "land", reason: "tool_call_limit", evidence };
    },
    judgeCall({ counts }, call, state, texts) {
      const limit = limitOf(call.name);
      const most = limit === undefined ? undefined : limits.get(limit);
      if (limit === undefined || most === undefined) return undefined;
      const calls =
        (counts.get(limit) ?? 0) + earlier(call, state).filter((one) => limitOf(one.name) === limit).length;
      if (calls < most) return undefined;
      const of = limit === allTools ? "" : ` of ${limit}`;
      return {
        do: "answer",
        code: "limit",
        text: texts.limitRefusal(call.name, `at most ${most} ${most === 1 ? "call" : "calls"}${of}`),
        evidence: { ...named(limit), max: most },
      };
    },
  };
  return rule as Rule;
}

const named = (limit: string): { tool?: string } => (limit === allTools ? {} : { tool: limit });

/** The calls before this one in the same answer that may run: they are judged one after the other, and counted together afterwards. */
const earlier = ({ key }: Call, { run }: State): readonly Call[] => {
  const calls = run?.turn?.calls ?? [];
  return calls
    .slice(
      0,
      calls.findIndex((one) => one.key === key),
    )
    .filter(({ check }) => check.ok);
};
