// The room of what comes too late: the result of something that was settled without it.
//
// Shared by every driver, so that what nobody waits for any more stands in the records as the same thing everywhere.

import type { Fact } from "../records.ts";
import { type Call, callIn, type State } from "../state.ts";

/** A result that somebody brought, which nothing was started for. */
export const isBrought = (fact: Fact): boolean =>
  fact.type === "tool_finished" && fact.result.code === "answered";

const outcomes: ReadonlySet<Fact["type"]> = new Set<Fact["type"]>([
  "child_waits",
  "tool_finished",
  "model_finished",
  "model_failed",
  "summary_finished",
  "summary_failed",
  "late_result",
]);

/** Facts that come of something the driver started. */
export const isOutcome = (fact: Fact): boolean => outcomes.has(fact.type) && !isBrought(fact);

const words: ReadonlySet<Fact["type"]> = new Set<Fact["type"]>(["queued", "withdrawn", "allowed", "revoked"]);

/** Facts that are said to the session, whatever becomes of its run. */
export const isWord = (fact: Fact): boolean => words.has(fact.type);

/** What is kept where a run could not be begun, or goes on elsewhere: all else was said of that run alone. */
export const outlivesRun = (fact: Fact): boolean => isWord(fact) || isOutcome(fact);

/** Nobody is asked any more: a call that runs has a result of its own, one that was denied has none. */
const isDecided = ({ startedAt, permission }: Call): boolean =>
  startedAt !== undefined || permission?.answer === "deny";

/** A fact on its way to the records. `asked`: it is said of the conversation as that was after so many records. */
export type Arriving = Fact & { readonly asked?: number };

/** Whether a fact is said of a conversation that has changed since. Whoever wants to know asks again. */
export const isVoid = ({ asked }: Arriving, { changedSeq }: State): boolean =>
  asked !== undefined && asked < changedSeq;

/** What came too late is kept as what it is. */
export function timely(arriving: Arriving, { run }: State): Fact {
  const fact = arriving.asked === undefined ? arriving : unasked(arriving);
  if (fact.type === "model_finished" || fact.type === "model_failed")
    return run?.call === undefined ? { type: "late_result", call: null } : fact;
  if (fact.type === "summary_finished" || fact.type === "summary_failed")
    return run?.compacting?.call === undefined ? { type: "late_result", call: null } : fact;
  if (fact.type !== "tool_finished" && fact.type !== "child_waits") return fact;
  const call = callIn(run, fact.call);
  if (call !== undefined && call.result === undefined && !(isBrought(fact) && isDecided(call))) return fact;
  if (fact.type === "tool_finished") return { type: "late_result", call: fact.call, result: fact.result };
  const { spent } = fact;
  const stopped = { content: [], isError: true, ...(spent === undefined ? {} : { spent }) };
  return { type: "late_result", call: fact.call, result: stopped, open: true };
}

function unasked({ asked: _asked, ...fact }: Arriving): Fact {
  return fact as Fact;
}
