// The room of the tree: limits that a run has because of its place in a tree of sub-agents.
//
// A sub-agent's run gets a share from its parent and lands when that is spent, whatever its own agent would allow. The
// number of sub-agents of a run, including those below it, is limited. A run whose model asks for more of them again,
// after it was told that none may start, lands as well.

import type { Amounts } from "../loop/child-facts.ts";
import { leftOf, spentBy, tighter } from "../loop/children.ts";
import { type Call, callIn, withRun } from "../loop/state.ts";
import { overspent } from "./limits.ts";
import type { Decision, Rule } from "./rule.ts";

/** In how many turns sub-agents were refused, and which turn was the last. */
interface Memory {
  readonly refused: number;
  readonly turn: number;
}

/** After how many turns with refused sub-agents a run lands. */
const mostRefused = 2;

/** @param maxSubAgents that a run and all below it may start */
export function tree(maxSubAgents: number): Rule<Memory> {
  return {
    name: "tree",
    version: 1,
    init: () => ({ refused: 0, turn: -1 }),
    fold: {
      tool_finished(memory, { call, result }, { run }) {
        const turn =
          result.code === "limit" && isUnbegunChild(callIn(run, call)) ? run?.turn?.seq : undefined;
        return turn === undefined || turn === memory.turn ? memory : { refused: memory.refused + 1, turn };
      },
    },
    decide({ refused }, state): Decision | undefined {
      if (refused >= mostRefused)
        return {
          do: "land",
          reason: "tool_call_limit",
          evidence: { refusedTurns: refused, max: mostRefused },
        };
      const budget = state.run?.parent?.budget;
      if (budget === undefined) return undefined;
      const { until } = budget;
      if (until !== undefined && state.now >= until) {
        const evidence = { now: state.now, at: until, given: true };
        return { do: "land", reason: "deadline", evidence, cancel: true };
      }
      const spent = overspent(spentBy(state), budget);
      return spent === undefined ? undefined : { ...spent, evidence: { ...spent.evidence, given: true } };
    },
    left(_memory, state): Amounts {
      const { agents = maxSubAgents, modelCalls, ...rest } = withRun(state).run.parent?.budget ?? {};
      const kept = modelCalls === undefined ? {} : { modelCalls: modelCalls - 1 };
      return leftOf(tighter({ ...rest, ...kept, agents }, { agents: maxSubAgents }), spentBy(state));
    },
    wakeAt: (_memory, state) => state.run?.parent?.budget.until,
  };
}

/** Whether a call is a sub-agent that was never started. */
const isUnbegunChild = (call: Call | undefined): boolean =>
  call?.tool?.agent !== undefined && call.child === undefined;
