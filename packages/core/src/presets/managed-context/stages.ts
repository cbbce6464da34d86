// The room of the managed context's stages: its cache of tool outputs and its compaction, in its own words.
//
// They only name stages of the agent's pipeline. Where the system's own words changed over time both values can be
// had; the defaults are its description's, except that a memory is always marked and a window nobody knows is no error.

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
  /** Default: true. `false`: as `compaction: null`. */
  enabled?: boolean;
  /** Compact without being asked. Default: true. */
  auto?: boolean;
  /** Share of the window, by the last count of tokens, from which on it compacts. Default: 0.8. */
  thresholdRatio?: number;
  /** Sums up. Default: the run's own. */
  model?: Model | null;
  /** Turns that stay, from the end. Default: 1. */
  retainLastTurns?: number;
}

export interface ToolOutputCache {
  /** Default: true. `false`: as `toolOutputCache: null`. */
  enabled?: boolean;
  /** Most bytes (UTF-8) of one result. Default: 51,200 (50 KiB). */
  maxMessageBytes?: number;
  /** Tokens (4 bytes each) all results may take. Default: a quarter of the window, from 20,000 to `maxBudgetTokens`. */
  contextBudgetTokens?: number | null;
  /** Also the budget where the window is not known. Default: 60,000. */
  maxBudgetTokens?: number;
  /** Which limit the quarter is of, where a model names both. Default: `context_window`. */
  limit?: "context_window" | "input_tokens";
  /** Whether the oldest results give way when all of them are over the budget. Default: true. */
  totalBudgetTrim?: boolean;
  /** Graphemes of a line that the reader tools show. The cut itself never looks at it. Default: 1,000. */
  maxLineLength?: number;
  /** Where whole texts are kept. Default: beside the journal, else in memory. `null`: nowhere, and no note has a ref. */
  store?: BlobStore | null;
}

const { summaryPrompt, summaryDirectives, retainPrompt, retainDirectives, form, limit } = compactionChecks;
const { withoutLimit, auto, at, keepTurns } = compactionChecks;
const retained = { retainPrompt, retainDirectives };
const words = { summaryPrompt, summaryDirectives, ...retained, form, limit, withoutLimit, auto };

/** What the two options must be. */
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

/** The stages of a managed context; a `null` or disabled one is off. Pruning and the guard always are. */
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
    // What was summed up takes its place, whatever was gained by it, and the summariser reads and writes without a limit.
    minGain: null,
    summaryMaxTokens: null,
    resultCharacters: null,
  };
}
