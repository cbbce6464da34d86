// The room of cancelled work: what a run is like once what was cancelled has settled.

import { inFlight, isForced, type Run } from "../state.ts";

/** Ends a cancellation (other than an abort's) once nothing is in flight. */
export function settleCancel(run: Run): Run {
  if (run.cancelledAt === undefined || run.abort !== undefined || inFlight(run)) return run;
  return withoutTime({ ...run, cancelledAt: undefined });
}

/** A run that lands or stops, with no time left for making room. Only if no request fits is room still made for its last answer, without a summary. */
export function withoutTime(run: Run): Run {
  return run.stopping === undefined && isForced(run.compacting) ? run : { ...run, compacting: undefined };
}
