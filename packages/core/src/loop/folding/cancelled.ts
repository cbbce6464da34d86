// The room of cancelled work: what a run is like once what was cancelled has settled.

import { inFlight, isForced, type Run } from "../state.ts";

/** Ends a cancellation (other than an abort's) once nothing is in flight. */
export function settleCancel(run: Run): Run {
  if (run.cancelledAt === undefined || run.abort !== undefined || inFlight(run)) return run;
  return withoutTime({ ...run, cancelledAt: undefined });
}

/** A run with no time left for making room, except for its last answer if no request fits: then that is done without a summary. */
export function withoutTime(run: Run): Run {
  const stays = run.landing !== undefined && run.stopping === undefined && isForced(run.compacting);
  return stays ? run : { ...run, compacting: undefined };
}
