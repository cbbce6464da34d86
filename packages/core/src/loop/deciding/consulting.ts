// The room of consulting the rules: when they are asked, and what becomes of what they say.
//
// A rule is asked before each model call, and when its time has come while something is in flight. What it decides
// becomes one record, with its name and its evidence.

import { type Decision, evidenceOf, firstSaid, type Rule, type Rules, speakersIn } from "../../rules/rule.ts";
import { heard } from "../../rules/verdicts.ts";
import { type Action, record } from "../action.ts";
import type { ResultCode } from "../records.ts";
import { type Call, inFlight, isRunning, type Run, type RunState } from "../state.ts";
import { end } from "./ending.ts";

/** When a started call runs past its time. */
export const timeoutAt = (call: Call): number => (call.startedAt ?? 0) + (call.tool?.timeoutMs ?? 0);

/** When whatever was cancelled must have settled. */
export const graceEnd = (state: RunState): number =>
  (state.run.cancelledAt ?? 0) + state.options.abortGraceMs;

/** The earliest time at which something must be looked at again, if there is one. */
export function wakeTime(state: RunState, rules: Rules): number | undefined {
  const { run } = state;
  let earliest = Number.POSITIVE_INFINITY;
  for (const call of run.turn?.calls ?? [])
    if (isRunning(call)) earliest = Math.min(earliest, timeoutAt(call));
  if (run.landing === undefined)
    for (const { rule, place } of speakersIn(rules.list).wakeAt) {
      const time = rule.wakeAt(state.memories[place], state);
      // A rule whose time has come was asked already; waiting for it again would be waiting for ever, at full speed.
      if (time !== undefined && heard("wakeAt", time) > state.now) earliest = Math.min(earliest, time);
    }
  return earliest === Number.POSITIVE_INFINITY ? undefined : earliest;
}

/** The same, as actions that wait for something say it. */
export function untilWake(state: RunState, rules: Rules): { until?: number } {
  const until = wakeTime(state, rules);
  return until === undefined ? {} : { until };
}

/** Waits for whatever comes first, at most until something must be looked at again. */
export const wait = (state: RunState, rules: Rules): Action => ({ do: "wait", ...untilWake(state, rules) });

/** Waits until a retry is due; undefined when nothing holds the next call back. */
export function waitForRetry(state: RunState, rules: Rules): Action | undefined {
  const { notBefore } = state.run;
  if (notBefore === undefined || state.now >= notBefore) return undefined;
  return { do: "wait", until: Math.min(notBefore, wakeTime(state, rules) ?? notBefore) };
}

/** What the first rule that speaks has decided. */
export function ruleDecision(state: RunState, rules: Rules): Action | undefined {
  if (state.run.landing !== undefined) return undefined;
  return firstSaid(rules, state, "decide", [state], (decision, rule) => decided(state, rule, decision));
}

/** What the first rule says that speaks against starting a call. */
export function spokenAgainst(
  call: Call,
  state: RunState,
  rules: Rules,
): { code: ResultCode; text: string } | undefined {
  return firstSaid(rules, state, "judgeStart", [call, state], (said) => said);
}

/** Rules whose time has come are heard while the model or a tool is at work. */
export function timedDecision(state: RunState, rules: Rules): Action | undefined {
  if (state.run.landing !== undefined) return undefined;
  return firstSaid(rules, state, "wakeAt", [state], (time, rule, memory) => {
    const decision = time <= state.now ? rule.decide?.(memory, state) : undefined;
    return decision === undefined ? undefined : decided(state, rule, heard("decide", decision));
  });
}

/** What a rule decides, where that changes anything. */
const decided = (state: RunState, rule: Rule, decision: Decision): Action | undefined =>
  changesNothing(decision, rule, state.run) ? undefined : recorded(state, rule, decision);

/**
 * Whether a rule could go on saying this for ever. One that only talks may do so once between two model calls; a run that
 * is to end already is stopped again only while something is in flight.
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
