// The room of the tree: what holds for a run because of the tree of sub-agents it stands in.
//
// A sub-agent's run was given amounts by its parent and lands when they are spent, whatever its own agent would allow.
// And no run starts sub-agents without end: so many, those below it among them, and no more.

import { type Amounts, leftOf, spentBy, tighter } from "../loop/children.ts";
import { overspent } from "./limits.ts";
import type { Decision, Rule } from "./rule.ts";

/** @param maxSubAgents that a run and all below it may start */
export function tree(maxSubAgents: number): Rule {
  return {
    name: "tree",
    version: 1,
    decide(_memory, state): Decision | undefined {
      const budget = state.run?.parent?.budget;
      if (budget === undefined) return undefined;
      const { until } = budget;
      if (until !== undefined && state.now >= until)
        return {
          do: "land",
          reason: "deadline",
          evidence: { now: state.now, at: until, given: true },
          cancel: true,
        };
      const spent = overspent(spentBy(state), budget);
      return spent?.do === "land" ? { ...spent, evidence: { ...spent.evidence, given: true } } : spent;
    },
    left(_memory, state): Amounts {
      const { agents = maxSubAgents, modelCalls, ...rest } = state.run?.parent?.budget ?? {};
      const kept = modelCalls === undefined ? {} : { modelCalls: modelCalls - 1 };
      return leftOf(tighter({ ...rest, ...kept, agents }, { agents: maxSubAgents }), spentBy(state));
    },
    wakeAt: (_memory, state) => state.run?.parent?.budget.until,
  };
}
