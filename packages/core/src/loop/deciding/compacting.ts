// The room of compaction: which summary is asked for next, and how the history changes in the end.
//
// One summary is one model call, so that a crash loses at most one. Everything here is a function of the state:
// the plan is computed again whenever it is needed, and the history does not change during a compaction.

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
import { refusesLimit } from "../folding/shrink.ts";
import type { Fact } from "../records.ts";
import { frontOf, sizeOf, summariserWindow, windowOf } from "../request/window.ts";
import type { RunOptions } from "../run-options.ts";
import { type Compacting, isForced, type RunState, type State, summariserOf } from "../state.ts";
import { wakeTime } from "./consulting.ts";

/** The next summary to ask for. */
export interface SummaryAsk {
  part: number;
  of: number;
  attempt: number;
  request: ModelRequest;
}

/** The next summary of the compaction in progress; undefined if none is left to ask for. */
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
 * If reasoning used up the output limit, the limit is raised, up to half the window and never beyond the model's own. The
 * headers of the run's settings are sent along if the run's own model is asked.
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

/** Asks a model for the next summary, unless a limit forbids it. */
export function askForSummary(state: RunState, rules: Rules): Action | undefined {
  const ask = summaryOf(state, rules);
  if (ask === undefined || spentOn(state, rules) !== undefined) return undefined;
  const own = state.options.compactor === undefined ? { model: state.run.model } : {};
  return { do: "summarise", ...ask, ...own };
}

/**
 * Why no further summary is asked for: the run is ending, or has reached a limit. Rules are asked before a compaction that the
 * run decides on, but a compaction may also be requested, or be needed after a failure; and one in many parts could exceed a
 * budget many times over. A run that only compacts reserves no call for a landing: its first summary is asked for unless nothing at all is left.
 */
function spentOn(state: RunState, rules: Rules): string | undefined {
  const { landing, modelCalls, only } = state.run;
  if (landing !== undefined && landing.reason !== "max_steps") return landing.reason;
  const isFirst = only === "compaction" && modelCalls === 0;
  return firstSaid(rules, state, "decide", [state], (ends, rule) => {
    if (rule.left === undefined || (ends.do === "land" && isFirst)) return undefined;
    return ends.do === "land" || ends.do === "stop" ? ends.reason : undefined;
  });
}

/** Waits until a failed summary may be retried. */
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

/** The outcome of a compaction: the summarised history, or the old one and why. */
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

/** Whether the run may also compact when it ends. */
export const compactsAtEnd = (state: RunState): boolean => settingsOf(state)?.atEnd ?? false;

/** The most that summary and ledger may take of the window: in a small one their default sizes would leave no room for work. */
const mostOfWindow = { summary: 0.15, ledger: 0.12 } as const;

/** The settings of this compaction: with sizes that leave room in a small window. If no request fits without it, the history becomes smaller even if there is no summary. */
function settingsOf(state: RunState): CompactionSettings | undefined {
  const settings = state.options.context?.compaction;
  if (settings?.format !== "structured") return settings;
  const { summaryMaxTokens: most } = settings;
  const window = windowOf(state);
  return {
    ...settings,
    ...(most === null || window === undefined
      ? {}
      : { summaryMaxTokens: Math.min(most, Math.max(256, Math.floor(window * mostOfWindow.summary))) }),
    ...(isForced(state.run.compacting) ? { onFailure: "note" as const } : {}),
  };
}

/** The part of the ledger that the model reads; all of it stays in the state. */
function toldLedger(state: RunState): Ledger {
  const window = windowOf(state);
  if (window === undefined) return state.ledger;
  return ledgerWithin(state.ledger, {
    characters: Math.max(1_000, Math.floor(window * 4 * mostOfWindow.ledger)),
  });
}

/** Whether a summary has failed for good, or too often. */
function isGivenUp({ failure, failures, narrowed = 0 }: Compacting, { format }: CompactionSettings): boolean {
  if (failure === undefined) return false;
  if (failure.kind === "context_overflow" && format === "structured") return narrowed > mostNarrowed;
  const passes = failure.retryable || refusesLimit(failure);
  return !passes || failures >= (format === "tagged" ? 1 : stagedBounds.attempts);
}

/** How often the plan may be made again with parts of half the size. */
const mostNarrowed = 3;

const plansOf = oncePer((_options: RunOptions) =>
  oncePer((_history: State["history"]) => new Map<string, CompactionPlan | undefined>()),
);

/** The plan of the compaction in progress; cached for the same history and facts. */
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
 * An estimate of an unknown window. It was large enough for everything sent so far. If it refused a request, that was as a rule
 * little too long, because conversations grow by little; and it is taken to be large enough for a summarising request and as
 * much again: any model is. If a summary's request is refused as well, it is halved.
 */
function guessedWindow(size: number, forced: boolean, { format }: CompactionSettings): number | undefined {
  if (!forced) return Number.POSITIVE_INFINITY;
  return format === "structured" ? Math.max(size, 2 * stagedBounds.overheadTokens) : undefined;
}

/**
 * The tagged format asks once, for everything: the run's own model has just read nearly all of it. Except after a request that
 * was too large, or if another model with a known window summarises, since that one has read nothing yet.
 */
const readsWhole = (state: RunState, { format }: CompactionSettings): boolean =>
  format === "tagged" &&
  !isForced(state.run.compacting) &&
  (state.options.compactor === undefined || summariserWindow(state) === undefined);

/** The facts from which the plan is made. */
function planFacts(state: RunState, rules: Rules, settings: CompactionSettings): CompactionFacts {
  const forced = isForced(state.run.compacting);
  const window = windowOf(state);
  const size = sizeOf(state, rules);
  const facts = {
    window: window ?? (forced ? Math.ceil(size * 0.75) : size),
    // A request that was refused was larger than estimated.
    used:
      state.run.compacting?.rule === "overflow"
        ? Math.max(size, window ?? 4 * stagedBounds.overheadTokens)
        : size,
    overhead: frontOf(state, rules),
    estimator: rules.estimator.message,
  };
  const { narrowed = 0 } = state.run.compacting ?? {};
  // The window above is that of the model in use; the summarising model may have another.
  const told = readsWhole(state, settings)
    ? Number.POSITIVE_INFINITY
    : (summariserWindow(state) ?? (window === undefined ? guessedWindow(size, forced, settings) : undefined));
  const reads = narrowed === 0 ? told : Math.ceil(Math.min(told ?? facts.window, size) / 2 ** narrowed);
  return { ...facts, asked: state.asked, ...(reads === undefined ? {} : { summariserWindow: reads }) };
}
