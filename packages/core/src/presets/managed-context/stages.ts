// The room of the managed context's stages: its cache of tool outputs and its compaction, under their own names.
//
// They only set stages of the agent's context. Where the system itself changed a value over time, both values can be chosen.
// The defaults are those of its description, except that a memory is always marked, and an unknown window is no error.

import { above0, type ChecksOf, finite, finite0, flag, membersOf, orNull } from "../../checks.ts";
import { type CompactionOptions, compactionChecks } from "../../context/compact/settings.ts";
import { type ContextOptions, noContext } from "../../context/options.ts";
import type { BlobStore } from "../../journal/blobs.ts";
import type { Model } from "../../model.ts";
import { agentChecks } from "../../options/agent-options.ts";

export interface ManagedCompaction
  extends Pick<
    CompactionOptions,
    | "summaryPrompt"
    | "summaryDirectives"
    | "retainPrompt"
    | "retainDirectives"
    | "form"
    | "limit"
    | "withoutLimit"
  > {
  /** `false`: the same as `compaction: null`. Default: true. */
  enabled?: boolean;
  /** Compact without being asked. Default: true. */
  auto?: boolean;
  /** Share of the window, by the last token count, from which on it compacts. Default: 0.8. */
  thresholdRatio?: number;
  /** The model that summarises. Default: the run's own. */
  model?: Model | null;
  /** How many turns at the end are kept. Default: 1. */
  retainLastTurns?: number;
}

export interface ToolOutputCache {
  /** `false`: the same as `toolOutputCache: null`. Default: true. */
  enabled?: boolean;
  /** The most bytes (UTF-8) of one result. Default: 51,200 (50 KiB). */
  maxMessageBytes?: number;
  /** The most tokens (4 bytes each) of all results together. Default: a quarter of the window, from 20,000 to `maxBudgetTokens`. */
  contextBudgetTokens?: number | null;
  /** The largest budget, and the budget if the window is unknown. Default: 60,000. */
  maxBudgetTokens?: number;
  /** Which limit the quarter is taken of, if a model names both. Default: `context_window`. */
  limit?: "context_window" | "input_tokens";
  /** Whether the oldest results are trimmed when all together exceed the budget. Default: true. */
  totalBudgetTrim?: boolean;
  /** How many graphemes of a line the reader tools show. The cut itself ignores it. Default: 1,000. */
  maxLineLength?: number;
  /** Where full texts are kept. Default: next to the journal, else in memory. `null`: nowhere, and no note has a ref. */
  store?: BlobStore | null;
}

const { summaryPrompt, summaryDirectives, retainPrompt, retainDirectives, form, limit } = compactionChecks;
const { withoutLimit, auto, at, keepTurns } = compactionChecks;
const retained = { retainPrompt, retainDirectives };
const words = { summaryPrompt, summaryDirectives, ...retained, form, limit, withoutLimit, auto };

/** The checks of both options. */
export const stageChecks: ChecksOf<{ compaction: ManagedCompaction; toolOutputCache: ToolOutputCache }> = {
  compaction: orNull(
    membersOf<ManagedCompaction>({
      ...words,
      enabled: flag,
      thresholdRatio: at,
      model: orNull(agentChecks.model),
      retainLastTurns: keepTurns,
    }),
  ),
  toolOutputCache: orNull(
    membersOf<ToolOutputCache>({
      enabled: flag,
      maxMessageBytes: finite,
      contextBudgetTokens: orNull(finite0),
      maxBudgetTokens: finite0,
      limit,
      totalBudgetTrim: flag,
      maxLineLength: above0,
      store: agentChecks.blobs,
    }),
  ),
};

/** The stages of a managed context. One that is `null` or disabled is off. Pruning and the guard are always off. */
export function managedStages(
  compaction: ManagedCompaction | null = {},
  cache: ToolOutputCache | null = {},
): ContextOptions {
  return {
    ...noContext,
    ...(cache === null || cache.enabled === false ? {} : cacheStages(cache)),
    ...(compaction === null || compaction.enabled === false ? {} : { compaction: tagged(compaction) }),
  };
}

function cacheStages(cache: ToolOutputCache): Pick<ContextOptions, "cap" | "trim"> {
  const { contextBudgetTokens: budgetTokens = null, maxBudgetTokens: maxTokens = 60_000 } = cache;
  return {
    cap: {
      mode: "lines",
      bytes: cache.maxMessageBytes ?? 50 * 1024,
      longLine: "leave_out",
      keep: "every",
      withFiles: "leave",
      readers: {
        read: "tool_output_cache",
        search: "tool_output_cache_grep",
        ...(cache.maxLineLength === undefined ? {} : { maxLineLength: cache.maxLineLength }),
      },
    },
    trim:
      cache.totalBudgetTrim === false
        ? null
        : {
            ...(budgetTokens === null ? {} : { budgetTokens }),
            maxTokens,
            window: cache.limit === "input_tokens" ? "maxInputTokens" : "contextWindow",
            to: 1,
            keep: "none",
          },
  };
}

function tagged(given: ManagedCompaction): NonNullable<ContextOptions["compaction"]> {
  const { enabled: _enabled, auto, thresholdRatio: at = 0.8, model, retainLastTurns, ...words } = given;
  return {
    ...words,
    format: "tagged",
    at,
    ...(auto === undefined ? {} : { auto }),
    ...(model === undefined || model === null ? {} : { model }),
    ...(retainLastTurns === undefined ? {} : { keepTurns: retainLastTurns }),
    // A summary replaces the history however little that saves, and the summariser's input and output have no limit.
    minGain: null,
    summaryMaxTokens: null,
    resultCharacters: null,
  };
}
