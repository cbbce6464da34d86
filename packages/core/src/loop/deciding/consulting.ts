// The room of consulting the rules: when they are asked, and how their decisions become records.
//
// A rule is asked before each model call, and also at the time it has set (`wakeAt`) while something is in flight. Each
// decision becomes one record, with the rule's name and evidence.

import {
  type Decision,
  evidenceOf,
  firstSaid,
  type Opposed,
  type Rule,
  type Rules,
  speakersIn,
} from "../../rules/rule.ts";
import { heard } from "../../rules/verdicts.ts";
import { type Action, record } from "../action.ts";
import { type Call, inFlight, isRunning, type Run, type RunState } from "../state.ts";
import { end } from "./ending.ts";
import { lastAnswer } from "./last-answer.ts";

/** When a started call times out, in milliseconds since 1970. */
export const timeoutAt = (call: Call): number => (call.startedAt ?? 0) + (call.tool?.timeoutMs ?? 0);

/** By when everything that was cancelled must have settled. */
export const graceEnd = (state: RunState): number =>
  (state.run.cancelledAt ?? 0) + state.options.abortGraceMs;

/** The earliest time at which `next` must be called again even if nothing happens; undefined if there is none. */
export function wakeTime(state: RunState, rules: Rules): number | undefined {
  const { run } = state;
  let earliest = Number.POSITIVE_INFINITY;
  for (const call of run.turn?.calls ?? [])
    if (isRunning(call)) earliest = Math.min(earliest, timeoutAt(call));
  if (mayBeTimed(run))
    for (const { rule, place } of speakersIn(rules.list).wakeAt) {
      const time = rule.wakeAt(state.memories[place], state);
      // A rule whose time has come was asked already; waiting for that time again would be a busy loop.
      if (time !== undefined && heard("wakeAt", time) > state.now) earliest = Math.min(earliest, time);
    }
  else earliest = Math.min(earliest, lastAnswer(state, rules)?.due ?? earliest);
  return earliest === Number.POSITIVE_INFINITY ? undefined : earliest;
}

/** The same, as the member `until` of an action. */
export function untilWake(state: RunState, rules: Rules): { until?: number } {
  const until = wakeTime(state, rules);
  return until === undefined ? {} : { until };
}

/** Waits for whatever comes first, at most until the next wake time. */
export const wait = (state: RunState, rules: Rules): Action => ({ do: "wait", ...untilWake(state, rules) });

/** Waits until a retry is due; undefined if the next call need not wait. */
export function waitForRetry(state: RunState, rules: Rules): Action | undefined {
  const { notBefore } = state.run;
  if (notBefore === undefined || state.now >= notBefore) return undefined;
  return { do: "wait", until: Math.min(notBefore, wakeTime(state, rules) ?? notBefore) };
}

/** The decision of the first rule that has one. */
export function ruleDecision(state: RunState, rules: Rules): Action | undefined {
  if (state.run.landing !== undefined) return undefined;
  return firstSaid(rules, state, "decide", [state], (decision, rule) => decided(state, rule, decision));
}

/** What the first rule says that answers a call instead of letting it start, with the rule's name and evidence. */
export function spokenAgainst(
  call: Call,
  state: RunState,
  rules: Rules,
): (Opposed & { rule: string }) | undefined {
  return firstSaid(rules, state, "judgeStart", [call, state], ({ code, text, evidence }, { name: rule }) => ({
    code,
    text,
    rule,
    ...(evidence === undefined ? {} : { evidence: evidenceOf({ evidence }) }),
  }));
}

/** The decision of a rule whose time has come while the model or a tool is running. In a run that lands it can only cancel that. */
export function timedDecision(state: RunState, rules: Rules): Action | undefined {
  const { run } = state;
  if (!mayBeTimed(run)) return undefined;
  return firstSaid(rules, state, "wakeAt", [state], (time, rule, memory) => {
    const said = time <= state.now ? rule.decide?.(memory, state) : undefined;
    if (said === undefined) return undefined;
    const decision = heard("decide", said);
    const cancels = decision.do === "land" && decision.cancel === true && inFlight(run);
    return run.landing === undefined || cancels ? decided(state, rule, decision) : undefined;
  });
}

/** Whether the times of rules count: until a run lands, and then as long as something else than its last answer is on its way. */
const mayBeTimed = (run: Run): boolean =>
  run.landing === undefined || (run.call?.lands !== true && (inFlight(run) || run.compacting !== undefined));

/** A rule's decision as a record, if it changes anything. */
const decided = (state: RunState, rule: Rule, decision: Decision): Action | undefined =>
  changesNothing(decision, rule, state.run) ? undefined : recorded(state, rule, decision);

/**
 * Whether a decision brings nothing that an earlier one has not: its rule could repeat it for ever. A note or a hidden tool is
 * allowed once between two model calls; a run that is already stopping is stopped again only while something is in flight.
 */
function changesNothing(decision: Decision, { name }: Rule, run: Run): boolean {
  if (decision.do === "stop") return run.stopping !== undefined && !inFlight(run);
  return decision.do !== "land" && run.spoken.includes(name);
}

function recorded(state: RunState, rule: Rule, decision: Decision): Action {
  const because = { rule: rule.name, evidence: evidenceOf(decision) };
  switch (decision.do) {
    case "land":
      return record({
        type: "mode",
        mode: "landing",
        reason: decision.reason,
        cancel: decision.cancel ?? false,
        ...because,
      });
    case "nudge":
      return record({ type: "noted", text: decision.text, ...because });
    case "hide_tool":
      return record({ type: "mode", mode: "hide_tool", tool: decision.tool, ...because });
    case "stop":
      if (inFlight(state.run) || state.run.turn !== undefined)
        return record({
          type: "mode",
          mode: "stopping",
          reason: decision.reason,
          cancel: true,
          ...because,
          ...(decision.error === undefined ? {} : { error: decision.error }),
        });
      return end(state, {
        reason: decision.reason,
        ...because,
        ...(decision.error === undefined ? {} : { error: decision.error }),
      });
  }
}
