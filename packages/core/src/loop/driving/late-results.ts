// The room of late results: the result of work that was settled without it.
//
// Every driver uses it, so that a late result is recorded in the same way everywhere.

import { tokensOf, type Usage } from "../../message.ts";
import { type Price, usdOf } from "../../price.ts";
import type { CallResult, Fact } from "../records.ts";
import type { ModelRef } from "../run-options.ts";
import { type Call, callIn, modelInUse, type RunState, type State, summariserOf, withRun } from "../state.ts";

/** A result that was given to `answer`: no tool was started for it. */
export const isExternalResult = (fact: Fact): boolean =>
  fact.type === "tool_finished" && fact.result.code === "answered";

const outcomes: ReadonlySet<Fact["type"]> = new Set<Fact["type"]>([
  "child_waits",
  "tool_finished",
  "tool_waits",
  "model_finished",
  "model_failed",
  "summary_finished",
  "summary_failed",
  "late_result",
]);

/** Facts about the outcome of work that the driver started. */
export const isOutcome = (fact: Fact): boolean => outcomes.has(fact.type) && !isExternalResult(fact);

const outside: ReadonlySet<Fact["type"]> = new Set<Fact["type"]>([
  "queued",
  "withdrawn",
  "allowed",
  "revoked",
]);

/** Facts that are about the session, and so hold whatever happens to its run. */
export const isOutsideFact = (fact: Fact): boolean => outside.has(fact.type);

/** Whether a fact is kept if the run could not be started, or continues elsewhere: all others were about that run only. */
export const outlivesRun = (fact: Fact): boolean => isOutsideFact(fact) || isOutcome(fact);

/** The parent no longer waits: a call that runs gets its own result, a denied one gets none. */
const isDecided = ({ startedAt, permission }: Call): boolean =>
  startedAt !== undefined || permission?.answer === "deny";

/** A fact on its way to the records. `asked`: it is about the history as it was at this `seq`. */
export type Arriving = Fact & { readonly asked?: number };

/** Whether a fact is about a conversation that has changed since: then the question is asked again. */
export const isVoid = ({ asked }: Arriving, { changedSeq }: State): boolean =>
  asked !== undefined && asked < changedSeq;

/** What is kept of a model call's outcome for which nobody waits: what it cost. @param price of the model that was called */
export function lateAnswer(fact: Fact, price: Price | undefined): Fact {
  const usage = usageIn(fact);
  if (usage === undefined || tokensOf(usage) === undefined) return { type: "late_result", call: null };
  const usd = usdOf(usage, price);
  return { type: "late_result", call: null, usage, ...(usd === undefined ? {} : { usd }) };
}

function usageIn(fact: Fact): Usage | undefined {
  if (fact.type === "model_finished" || fact.type === "summary_finished") return fact.message.usage;
  return fact.type === "model_failed" || fact.type === "summary_failed" ? fact.usage : undefined;
}

/** The fact as it is recorded: as a `late_result` if it came too late. */
export function timely(arriving: Arriving, state: State): Fact {
  const { run } = state;
  const fact = arriving.asked === undefined ? arriving : unasked(arriving);
  if (fact.type === "model_finished" || fact.type === "model_failed")
    return run?.call === undefined ? lateAnswer(fact, priceIn(state, modelUsed)) : fact;
  if (fact.type === "summary_finished" || fact.type === "summary_failed")
    return run?.compacting?.call === undefined ? lateAnswer(fact, priceIn(state, summariserOf)) : fact;
  if (fact.type !== "tool_finished" && fact.type !== "tool_waits" && fact.type !== "child_waits") return fact;
  const call = callIn(run, fact.call);
  if (call !== undefined && call.result === undefined && !(isExternalResult(fact) && isDecided(call)))
    return fact;
  if (fact.type === "tool_finished") return { type: "late_result", call: fact.call, result: fact.result };
  if (fact.type === "tool_waits") return { type: "late_result", call: fact.call, result: unheard };
  const { spent } = fact;
  const stopped = { content: [], isError: true, ...(spent === undefined ? {} : { spent }) };
  return { type: "late_result", call: fact.call, result: stopped, open: true };
}

const modelUsed = ({ options, run }: RunState): ModelRef | undefined => options.models[modelInUse(run)];

const priceIn = (state: State, by: (state: RunState) => ModelRef | undefined): Price | undefined =>
  state.run === undefined ? undefined : by(withRun(state))?.facts.price;

/** What is stored of a question that came too late: nobody is asked. */
const unheard: CallResult = {
  content: [{ type: "text", text: "it asked a question" }],
  isError: true,
};

function unasked({ asked: _asked, ...fact }: Arriving): Fact {
  return fact as Fact;
}
