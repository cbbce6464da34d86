// The room of the cut: how many records a fork shares, and which decisions among them are made again.
//
// Decisions about a step are not part of what comes before it: a run that landed, or was aborted, continues in its fork.

import { invalidRequest } from "../../errors.ts";
import { noStep } from "../../explain/no-step.ts";
import type { CallKey, LogRecord, RecordOf, RunEnd } from "../../loop/records.ts";
import { reduceAll } from "../../loop/reduce.ts";
import type { Rules } from "../../rules/rule.ts";

/** Where a fork is taken, as the options of a fork name it. */
export interface ForkPoint {
  at?: number;
  run?: number;
  seq?: number;
}

/** @throws RondoError `invalid_request` for an invalid point, or if two are given */
export function checkPoint(
  session: string,
  records: readonly LogRecord[],
  { at, run, seq }: ForkPoint,
  edits: boolean,
): void {
  if (at !== undefined && seq !== undefined)
    throw invalidRequest("a fork is taken at a step or at a record: give `at` or `seq`");
  if (run !== undefined && at === undefined && (seq !== undefined || edits))
    throw invalidRequest(
      "`run` says in which run `at` counts: give `at` as well, or `run` alone for all up to its end",
    );
  if (seq !== undefined && !(Number.isSafeInteger(seq) && seq >= 1 && seq <= records.length))
    throw invalidRequest(
      `session ${session} has ${records.length} records: it cannot be forked after ${seq} of them`,
    );
}

/** A call whose result is replaced, and the record of its own. */
export interface Edited {
  seq: number;
  key: CallKey;
}

/** How many records are shared. */
export function cutOf(
  session: string,
  records: readonly LogRecord[],
  { at, run, seq }: ForkPoint,
  edited: Edited | undefined,
  rules: Rules,
): number {
  if (seq !== undefined) return seq;
  if (at !== undefined) return cutAtStep(session, records, { step: at, run, edited }, rules);
  if (run !== undefined) return behindRun(session, records, run);
  return defaultCut(session, records, edited);
}

/** The end of the records; with a replaced result, the moment before the old one was read. */
function defaultCut(session: string, records: readonly LogRecord[], edited: Edited | undefined): number {
  if (edited === undefined) return records.length;
  const next = records.find(
    (record) => record.seq > edited.seq && (reads(record) || record.type === "run_ended"),
  );
  if (next?.type === "run_ended" && isByCall(next.end, edited))
    throw invalidRequest(
      `session ${session} has no step in which the other result would be read: call ${next.end.evidence.call} of the same answer ended the run`,
    );
  return undecided(records, next?.seq ?? records.length);
}

/** Whether a record was made from the results before it: a request, or what a stage left of them to make room. */
export const reads = (record: LogRecord): boolean =>
  ["model_started", "summary_started", "trimmed", "compacted"].includes(record.type);

/** A run, by default the last, and its own records. */
function runOf(
  session: string,
  records: readonly LogRecord[],
  number: number | undefined,
): { run: number; start: number; end: number } {
  const starts = records.filter((record) => record.type === "run_started");
  const run = number ?? starts.length;
  const start = starts[run - 1];
  if (start === undefined)
    throw invalidRequest(
      `session ${session} has no run ${run}: it has ${starts.length === 1 ? "one" : starts.length}`,
    );
  return { run, start: start.seq, end: starts[run]?.seq ?? records.length };
}

/** How many records come before messages that were sent after a run had ended: in the fork those are sent again, or others instead. */
function behindRun(session: string, records: readonly LogRecord[], number: number): number {
  const { start, end } = runOf(session, records, number);
  const ended = records.slice(start, end).find((record) => record.type === "run_ended");
  return ended === undefined ? end : ended.seq + 1;
}

/** How many records come before a step and the decisions about it. */
function cutAtStep(
  session: string,
  records: readonly LogRecord[],
  { step, run: number, edited }: { step: number; run: number | undefined; edited: Edited | undefined },
  rules: Rules,
): number {
  const { run, start, end } = runOf(session, records, number);
  const own = records.slice(start, end);
  const asked = own.find((record) => record.type === "model_started" && record.step === step);
  if (asked !== undefined) return undecided(records, asked.seq);
  const steps = own.reduce(
    (most, record) => (record.type === "model_started" ? Math.max(most, record.step) : most),
    0,
  );
  const where = `run ${run} of session ${session}`;
  if (step !== steps + 1) throw invalidRequest(noStep(where, step, steps));
  const ended = own.find((record) => record.type === "run_ended");
  // Messages and late results that came after the run had ended are not part of what came before a step.
  const before = ended?.seq ?? end;
  const now = reduceAll(records.slice(0, before), rules).run;
  const judged = own.findLast((record) => record.type === "turn_judged");
  // The last step is before the cut only if it is complete, and leads to another.
  const isOver = (judged !== undefined && isLast(judged)) || isByCall(ended?.end ?? now?.stopping, edited);
  if (now?.steps !== steps || isOver)
    throw invalidRequest(
      `${where} ${ended === undefined ? "is in" : "ended with"} step ${steps}: fork it at ${steps} to have that one again, or without a step to go on after it`,
    );
  return undecided(records, before);
}

/** Whether one of the last step's calls ended the run, or is to end it, by its result or because it was denied. With another result it no longer does. */
function isByCall(by: Pick<RunEnd, "reason" | "evidence"> | undefined, edited: Edited | undefined): boolean {
  if (by === undefined) return false;
  const { reason, evidence } = by;
  return reason === "done_tool"
    ? evidence.call !== edited?.key
    : reason === "turn_stopped" && "call" in evidence;
}

const isLast = ({ follows }: RecordOf<"turn_judged">): boolean =>
  follows.do === "finish" || follows.do === "stop";

/** The decisions about a step are made again, so messages that were delivered for it are still queued. */
function undecided(records: readonly LogRecord[], before: number): number {
  let cut = before;
  while (cut > 1 && isDecision(records[cut - 1])) cut -= 1;
  return cut;
}

function isDecision(record: LogRecord | undefined): boolean {
  switch (record?.type) {
    case "noted":
    case "mode":
    case "woke":
    case "delivered":
    case "trimmed":
    case "abort_asked":
    case "output_checked":
    case "run_ended":
      return true;
    case "opened":
      // Records after a change of options stay under those options.
      return record.options === undefined;
    case "hook_answered":
      return "step" in record || record.hook === "onFinish";
    default:
      return false;
  }
}

/**
 * A shared record in a fork that makes the decisions about a step again. If such a decision was made while calls of the
 * step before were open, the records after it contain the results of these calls, so it cannot simply be cut off: it is
 * replaced by a wait that has ended, which decides nothing.
 * @param cut how many records are shared
 */
export function decidedAnew(records: readonly LogRecord[], cut: number): (record: LogRecord) => LogRecord {
  const since = records
    .slice(0, cut)
    .findLastIndex(({ type }) => type === "turn_judged" || type === "run_started");
  return (record) => {
    const { seq, at, rand, type } = record;
    const ends = type === "abort_asked" || (type === "mode" && ["landing", "stopping"].includes(record.mode));
    return ends && seq > since ? { type: "woke", seq, at, rand } : record;
  };
}
