// The room of phases: where a run stands, told by its state. Each has its rows in the table (`next.ts`).

import { inFlight, isOpen, type State } from "./state.ts";

/** The phases of a run. */
export type Phase =
  | "idle"
  | "ready"
  | "compacting"
  | "thinking"
  | "judging"
  | "acting"
  | "finishing"
  | "cancelling";

/** The phase a state is in. */
export function phaseOf(state: State): Phase {
  const { run } = state;
  if (!isOpen(run)) return "idle";
  if (run.abort !== undefined || (run.cancelledAt !== undefined && inFlight(run))) return "cancelling";
  if (run.call !== undefined) return "thinking";
  if (run.failure !== undefined) return "judging";
  if (run.turn !== undefined) return run.turn.judged === undefined ? "judging" : "acting";
  // A paused answer is sent back as it is: a compaction that was asked for waits until it is whole. One that is needed to fit does not wait.
  if (run.compacting !== undefined && !(run.paused && run.compacting.rule === "asked")) return "compacting";
  return run.answer === undefined ? "ready" : "finishing";
}
