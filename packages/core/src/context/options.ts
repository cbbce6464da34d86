// The room of the context's options: what a user may say about the window, and the facts it comes to.
//
// One pipeline in a fixed order: cap, trim, prune, guard, and compaction; each stage is an option and may be null.

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
  /** Tokens of the window, input and output together. Default: what is known of the model; stages that need it rest where nothing is. */
  window?: number;
  /** One result on arrival. Default: whole lines, at most 50 KiB. */
  cap?: CapOptions | null;
  /** All results together, the oldest first, for good. Default: a quarter of the window. */
  trim?: TrimOptions | null;
  /** Old results, in a request only. Default: off. */
  prune?: PruneOptions | null;
  /**
   * The last look before a request goes out. `cut`: the longest texts are cut, for good; else results are, for this request
   * only. Default: `cut`. `counts`: `messages`, and not what goes with them (system prompt, tools, notes); `cut` counts
   * all in any case. Default: `request`, all of it.
   */
  guard?: { results?: "cut" | GuardOptions["results"]; counts?: "request" | "messages" } | null;
  /** The history summed up. Default: at 80 % of the window. */
  compaction?: (Omit<CompactionOptions, "model"> & { model?: Model }) | null;
  /** How tokens are estimated. Default: by characters. */
  estimator?: Estimator;
  /** Shares of the window, 0 to 1, at which the model is told how much is left. Default: none. */
  tell?: readonly number[];
}

/** Every stage off: the history is sent as it is, whatever its size. */
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
});

/** What the options of the context must be. */
export const contextOptions: Check = membersOf<ContextOptions>({
  window: finite,
  cap: orNull(capOptions),
  trim: orNull(rising(trimOptions, { minTokens: 20_000, maxTokens: 100_000 })),
  // As lenient as the settings files that it is read from.
  prune: anything,
  guard: orNull(
    membersOf<NonNullable<ContextOptions["guard"]>>({
      results: oneOf("cut", "truncate", "truncate_and_replace"),
      counts: oneOf("request", "messages"),
    }),
  ),
  compaction: orNull(membersOf<NonNullable<ContextOptions["compaction"]>>({ ...compactionChecks, model })),
  estimator: able("an estimator (text, message, tools)", "text", "message", "tools"),
  tell: listOf(share),
});

/** The facts of given options. @throws RondoError `invalid_request` naming the option that cannot be used */
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

/** The settings as facts; the model that sums up is a fact of its own. */
function compactionFacts(given: NonNullable<ContextOptions["compaction"]> = {}): CompactionSettings {
  const { model: _model, ...settings } = given;
  return compactionSettings(settings);
}
