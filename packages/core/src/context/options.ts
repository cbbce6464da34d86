// The room of the context's options: what keeps a run inside its window, and the facts that the options become.
//
// One pipeline in a fixed order: cap, trim, prune, guard, and compaction; each stage is an option and may be null.

import { compactionWords } from "../checks/other-words.ts";
import { model } from "../checks/ready-made.ts";
import {
  able,
  anything,
  type Check,
  checkGiven,
  finite,
  finite0,
  listOf,
  membersOf,
  oneOf,
  orNull,
  ratio,
  rising,
  share,
  text,
} from "../checks.ts";
import type { Model } from "../model.ts";
import { type CapFacts, type CapOptions, capFacts, capOptions } from "./cap/cap-options.ts";
import {
  type CompactionOptions,
  type CompactionSettings,
  compactionChecks,
  compactionSettings,
} from "./compact/settings.ts";
import type { Estimator } from "./estimate.ts";
import type { GuardOptions } from "./guard.ts";
import { type PruneOptions, type PruneSettings, pruneSettings } from "./prune/settings.ts";
import { type TrimOptions, type TrimSettings, trimSettings } from "./trim.ts";

export interface ContextOptions {
  /** Size of the window in tokens, input and output together. Default: the model's known window; if it is unknown, stages that need it are off. */
  window?: number;
  /** Cuts a result that is too large when it arrives. Default: whole lines, at most 50 KiB. */
  cap?: CapOptions | null;
  /** Keeps all results together within a budget by replacing the oldest, for good. Default: a quarter of the window. */
  trim?: TrimOptions | null;
  /** Leaves old results out of a request, but not out of the history. Default: off. */
  prune?: PruneOptions | null;
  /**
   * The last check before a request is sent. `results`: `cut` cuts the longest texts, for good; `truncate` and
   * `truncate_and_replace` shorten results for this request only. Default: `cut`. `counts`: `messages` counts only those, not
   * system prompt, tools and notes; `cut` always counts everything. Default: `request`, everything.
   */
  guard?: { results?: "cut" | GuardOptions["results"]; counts?: "request" | "messages" } | null;
  /** Summarises the history. Default: at 80 % of the window. */
  compaction?: (Omit<CompactionOptions, "model"> & { model?: Model }) | null;
  /** Estimates tokens that the provider has not counted. Default: by characters. */
  estimator?: Estimator;
  /** Shares of the window, 0 to 1, at which the model is told how much is left. Default: none. */
  tell?: readonly number[];
}

/** Turns every stage off: the history is sent as it is, whatever its size. */
export const noContext: Required<Pick<ContextOptions, "cap" | "trim" | "prune" | "guard" | "compaction">> = {
  cap: null,
  trim: null,
  prune: null,
  guard: null,
  compaction: null,
};

/** The stages that are on, as facts of the run. */
export interface ContextFacts {
  window?: number;
  cap?: CapFacts;
  trim?: TrimSettings;
  prune?: PruneSettings;
  guard?: { results: "cut" | NonNullable<GuardOptions["results"]>; counts?: "messages" };
  compaction?: CompactionSettings;
}

const trimOptions = membersOf<TrimOptions>({
  budgetTokens: finite0,
  minTokens: finite0,
  maxTokens: finite0,
  window: oneOf("contextWindow", "maxInputTokens"),
  to: ratio,
  keep: oneOf("last_answer", "none"),
  exempt: listOf(text),
});

/** The check of these options. */
export const contextOptions: Check = membersOf<ContextOptions>({
  window: finite,
  cap: orNull(capOptions),
  trim: orNull(rising(trimOptions, { minTokens: 20_000, maxTokens: 100_000 })),
  // As tolerant as the settings files that it is read from.
  prune: anything,
  guard: orNull(
    membersOf<NonNullable<ContextOptions["guard"]>>({
      results: oneOf("cut", "truncate", "truncate_and_replace"),
      counts: oneOf("request", "messages"),
    }),
  ),
  compaction: orNull(
    membersOf<NonNullable<ContextOptions["compaction"]>>({ ...compactionChecks, model }, [], compactionWords),
  ),
  estimator: able("an estimator (text, message, tools)", "text", "message", "tools"),
  tell: listOf(share),
});

/** The facts that the given options become. @throws RondoError `invalid_request` naming the invalid option */
export function contextFacts(given: ContextOptions = {}): ContextFacts {
  checkGiven(contextOptions, given, "context");
  const { window } = given;
  const prune = given.prune === undefined || given.prune === null ? null : pruneSettings(given.prune);
  return {
    ...(window === undefined ? {} : { window }),
    ...(given.cap === null ? {} : { cap: capFacts(given.cap) }),
    ...(given.trim === null ? {} : { trim: trimSettings(given.trim) }),
    ...(prune === null ? {} : { prune }),
    ...(given.guard === null ? {} : { guard: guardFacts(given.guard) }),
    ...(given.compaction === null ? {} : { compaction: compactionFacts(given.compaction) }),
  };
}

function guardFacts({
  results = "cut",
  counts,
}: ContextOptions["guard"] & object = {}): ContextFacts["guard"] & object {
  return { results, ...(counts === "messages" ? { counts } : {}) };
}

/** The settings as facts; the summarising model is a fact of its own. */
function compactionFacts(given: NonNullable<ContextOptions["compaction"]> = {}): CompactionSettings {
  const { model: _model, ...settings } = given;
  return compactionSettings(settings);
}
