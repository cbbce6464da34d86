// The room of the window notice: tells the model how much of its window is left.
//
// Once at each threshold, and again after the history was made smaller. So the model can plan its last steps.

import type { Estimator } from "../context/estimate.ts";
import { compactionDue, trimmed } from "../loop/deciding/making-room.ts";
import { sizeOf, windowOf } from "../loop/request/window.ts";
import { withRun } from "../loop/state.ts";
import type { Decision, Rule } from "./rule.ts";

/** The highest threshold that was reported since the history last became smaller. */
type Told = { at: number };

const untold = (told: Told): Told => (told.at === 0 ? told : { at: 0 });

/** Tells the model at each share of the window (between 0 and 1) how much is left. */
export function windowNotice(shares: readonly number[], estimator: Estimator): Rule<Told> {
  const thresholds = [...shares].sort((one, other) => one - other);
  return {
    name: "room",
    version: 1,
    init: () => ({ at: 0 }),
    fold: {
      compacted: untold,
      trimmed: untold,
      noted: (told, { rule, evidence }) => (rule === "room" ? { at: Number(evidence.at) } : told),
    },
    decide(told, state): Decision | undefined {
      const window = windowOf(state);
      if (window === undefined) return undefined;
      const tokens = sizeOf(state, { estimator });
      const at = thresholds.findLast((share) => tokens >= share * window);
      if (at === undefined || at <= told.at) return undefined;
      // The note reports what is left in its own request: room is made first.
      const now = withRun(state);
      if ((trimmed(now) ?? compactionDue(now, { estimator })) !== undefined) return undefined;
      const left = Math.max(0, window - tokens);
      const text = `About ${left} of ${window} tokens of the context window are left. Results that are needed later should be noted down.`;
      return { do: "nudge", text, evidence: { at, tokens, window } };
    },
  };
}
