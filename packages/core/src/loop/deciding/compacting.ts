// The room of compaction: which summary is asked for next, and what becomes of the history in the end.
//
// One summary is one model call, so that a crash loses no more than one. Everything here is a function of the state:
// the plan is made again whenever it is asked for, and the history does not change while it is carried out.

import { assemble } from "../../context/compact/assemble.ts";
import { stagedBounds } from "../../context/compact/in-parts.ts";
import { type Ledger, ledgerWithin } from "../../context/compact/ledger.ts";
import { type CompactionFacts, type CompactionPlan, planCompaction } from "../../context/compact/plan.ts";
import { summaryRequest } from "../../context/compact/request.ts";
import type { CompactionSettings } from "../../context/compact/settings.ts";
import type { ModelRequest, Settings } from "../../model.ts";
import { oncePer } from "../../once-per.ts";
import { firstSaid, type Rules } from "../../rules/rule.ts";
import type { Action } from "../action.ts";
import { isForced, refusesLimit } from "../folding/shrink.ts";
import type { Fact } from "../records.ts";
import { frontOf, sizeOf, summariserWindow, windowOf } from "../request/window.ts";
import type { RunOptions } from "../run-options.ts";
import { type Compacting, type RunState, type State, summariserOf } from "../state.ts";
import { wakeTime } from "./consulting.ts";

/** The summary that is asked for next. */
export interface SummaryAsk {
  part: number;
  of: number;
  attempt: number;
  request: ModelRequest;
}

/** The next summary of the compaction under way; undefined when there is none to ask for any more. */
export function summaryOf(state: RunState, rules: Rules): SummaryAsk | undefined {
  const { compacting } = state.run;
  const settings = settingsOf(state);
  const plan = planOf(state, rules);
  if (compacting === undefined || settings === undefined || plan === undefined) return undefined;
  const { summaries, failures } = compacting;
  if (summaries.length >= plan.calls || isGivenUp(compacting, settings)) return undefined;
  const request = summaryRequest(
    state.history,
    plan,
    summaries.length,
    summaries,
    toldLedger(state),
    settings,
  );
  return {
    part: summaries.length + 1,
    of: plan.calls,
    attempt: failures + 1,
    request: { ...request, settings: sentSettings(state, request, compacting) },
  };
}

/**
 * Where the output limit went into reasoning it is raised, up to half a window, and never beyond what the model gives. The
 * headers of the run's settings go along where the run's own model is asked.
 */
function sentSettings(state: RunState, { settings }: ModelRequest, { cut = 0, limit }: Compacting): Settings {
  const { compactor, settings: own } = state.options;
  const { maxOutputTokens: asked, ...rest } = settings;
  const facts = summariserOf(state)?.facts;
  const half = Math.floor((summariserWindow(state) ?? windowOf(state) ?? Infinity) / 2);
  const most = Math.min(facts?.maxOutputTokens ?? Infinity, limit ?? Infinity);
  const raised = asked === undefined ? undefined : Math.max(asked, Math.min(asked * 4 ** cut, half));
  const headers = compactor === undefined ? own.headers : undefined;
  return {
    ...rest,
    ...(raised === undefined || limit === null ? {} : { maxOutputTokens: Math.min(raised, most) }),
    ...(headers === undefined ? {} : { headers }),
  };
}

/** Asks a model for the next summary, unless nothing may be spent on it. */
export function askForSummary(state: RunState, rules: Rules): Action | undefined {
  const ask = summaryOf(state, rules);
  if (ask === undefined || spentOn(state, rules) !== undefined) return undefined;
  const own = state.options.compactor === undefined ? { model: state.run.model } : {};
  return { do: "summarise", ...ask, ...own };
}

/**
 * Why no summary is asked for any more: the run ends already, or has reached a limit. Rules are heard before a compaction
 * that the run decides on, but one may also be asked for, or be needed after a failure; and one in many parts could spend a
 * budget many times over. A run for a compaction alone keeps no call for a landing, and has the one it was begun for.
 */
function spentOn(state: RunState, rules: Rules): string | undefined {
  const { landing, modelCalls, only } = state.run;
  if (landing !== undefined && landing.reason !== "max_steps") return landing.reason;
  if (only === "compaction" && modelCalls === 0) return undefined;
  return firstSaid(rules, state, "decide", [state], (ends, rule) =>
    rule.left !== undefined && (ends.do === "land" || ends.do === "stop") ? ends.reason : undefined,
  );
}

/** Waits until a failed summary may be tried again. */
export function waitForSummary(state: RunState, rules: Rules): Action | undefined {
  const { compacting } = state.run;
  const settings = settingsOf(state);
  if (compacting?.failedAt === undefined || settings === undefined || isGivenUp(compacting, settings))
    return undefined;
  if (spentOn(state, rules) !== undefined) return undefined;
  const { at, rand } = compacting.failedAt;
  const { minWaitMs, maxWaitMs, jitter } = stagedBounds;
  const base = Math.min(maxWaitMs, minWaitMs * 2 ** (compacting.failures - 1));
  const until = at + Math.round(base * (1 - jitter + 2 * jitter * rand));
  return state.now >= until
    ? undefined
    : { do: "wait", until: Math.min(until, wakeTime(state, rules) ?? until) };
}

/** What becomes of the history: summed up, or as it was, and why. */
export function compactionOf(state: RunState, rules: Rules): Fact {
  const { compacting } = state.run;
  const settings = settingsOf(state);
  const plan = planOf(state, rules);
  const type = "compacted" as const;
  const stage = "compaction" as const;
  if (plan === undefined || settings === undefined || compacting === undefined) {
    const size = sizeOf(state, rules);
    const note = "there is nothing that could be summed up: the history stays as it is";
    return { type, stage, before: size, after: size, note };
  }
  const { summaries, failure } = compacting;
  const made = assemble(state.history, plan, summaries, toldLedger(state), settings, rules.estimator.message);
  if ("edit" in made) {
    const { edit, before, after, note } = made;
    return { type, stage, edit, before, after, note };
  }
  const cause = failure?.message ?? spentOn(state, rules);
  const why = cause === undefined ? "" : ` (${cause})`;
  return { type, stage, before: made.before, after: made.before, note: `${made.note}${why}` };
}

/** Whether a compaction is to be thought of also when the run ends. */
export const compactsAtEnd = (state: RunState): boolean => settingsOf(state)?.atEnd ?? false;

/** What a memory may take of a small window: a summary and a ledger as large as in a large one would leave no room for work. */
const shares = { summary: 0.15, ledger: 0.12 } as const;

/** A request that does not fit must become smaller, with a summary or without. */
function settingsOf(state: RunState): CompactionSettings | undefined {
  const settings = state.options.context?.compaction;
  if (settings?.format !== "structured") return settings;
  const { summaryMaxTokens: most } = settings;
  const window = windowOf(state);
  return {
    ...settings,
    ...(most === null || window === undefined
      ? {}
      : { summaryMaxTokens: Math.min(most, Math.max(256, Math.floor(window * shares.summary))) }),
    ...(isForced(state.run.compacting) ? { onFailure: "note" as const } : {}),
  };
}

/** The ledger as far as it is told; the whole of it stays in the state. */
function toldLedger(state: RunState): Ledger {
  const window = windowOf(state);
  if (window === undefined) return state.ledger;
  return ledgerWithin(state.ledger, { characters: Math.max(1_000, Math.floor(window * 4 * shares.ledger)) });
}

/** A summary that failed for good, or too often. */
function isGivenUp({ failure, failures, narrowed = 0 }: Compacting, { format }: CompactionSettings): boolean {
  if (failure === undefined) return false;
  if (failure.kind === "context_overflow" && format === "structured") return narrowed > mostNarrowed;
  const passes = failure.retryable || refusesLimit(failure);
  return !passes || failures >= (format === "tagged" ? 1 : stagedBounds.attempts);
}

/** How often a plan is made anew with parts of half the size. */
const mostNarrowed = 3;

const plansOf = oncePer((_options: RunOptions) =>
  oncePer((_history: State["history"]) => new Map<string, CompactionPlan | undefined>()),
);

/** The plan of the compaction under way. Made once for a history and what is known of it. */
function planOf(state: RunState, rules: Rules): CompactionPlan | undefined {
  const settings = settingsOf(state);
  const { history } = state;
  if (settings === undefined) return undefined;
  const facts = planFacts(state, rules, settings);
  const { window, used, overhead, summariserWindow } = facts;
  const known = plansOf(state.options)(history);
  const key = [isForced(state.run.compacting), window, used, overhead, summariserWindow].join();
  if (!known.has(key)) known.set(key, planCompaction(history, settings, facts));
  return known.get(key);
}

/**
 * What a window that nobody knows is taken to read. It was large enough for all that was sent so far; one that refused a
 * request is small enough to need a summary, and large enough to be asked for one: any model reads a summarising request,
 * and as much again.
 */
function guessedWindow(
  { window }: CompactionFacts & { window: number },
  forced: boolean,
  { format }: CompactionSettings,
): number | undefined {
  if (!forced) return Number.POSITIVE_INFINITY;
  return format === "structured" ? Math.max(window, 2 * stagedBounds.overheadTokens) : undefined;
}

/**
 * The tagged format asks once, for everything: the run's own model has just read nearly all of it. Not where a request was too
 * large for it, and where another model sums up in a window that is known, since that one has read nothing yet.
 */
const readsWhole = (state: RunState, { format }: CompactionSettings): boolean =>
  format === "tagged" &&
  !isForced(state.run.compacting) &&
  (state.options.compactor === undefined || summariserWindow(state) === undefined);

/** What the plan is made from. */
function planFacts(state: RunState, rules: Rules, settings: CompactionSettings): CompactionFacts {
  const forced = isForced(state.run.compacting);
  const window = windowOf(state);
  const size = sizeOf(state, rules);
  const facts = {
    window: window ?? (forced ? Math.ceil(size * 0.75) : size),
    // A request that was refused was larger than it looked, whatever was estimated.
    used:
      state.run.compacting?.rule === "overflow"
        ? Math.max(size, window ?? 4 * stagedBounds.overheadTokens)
        : size,
    overhead: frontOf(state, rules),
    estimator: rules.estimator.message,
  };
  const { narrowed = 0 } = state.run.compacting ?? {};
  // The window above is that of the model in use: who sums up may have another.
  const told = readsWhole(state, settings)
    ? Number.POSITIVE_INFINITY
    : (summariserWindow(state) ??
      (window === undefined ? guessedWindow(facts, forced, settings) : undefined));
  const reads = narrowed === 0 ? told : Math.ceil(Math.min(told ?? facts.window, size) / 2 ** narrowed);
  return { ...facts, ...(reads === undefined ? {} : { summariserWindow: reads }) };
}
