// The room of the settings of compaction: what a user may choose, and what that comes to.
//
// Two formats. `structured`, Rondo's own: one memory message with a summary, what was decided, done, is left and comes
// next, and the ledger; the task and the newest request stay word for word. `tagged`: a retain and a summary message,
// then the last turns. Settings are plain JSON, since they stand in the journal with the other options of a run.

import {
  atLeast,
  type ChecksOf,
  checkGiven,
  finite0,
  flag,
  listOf,
  membersOf,
  oneOf,
  orNull,
  portion,
  ratio,
  real,
  text,
} from "../../checks.ts";

export type CompactionFormat = "structured" | "tagged";

/** What a user sets; every field has a default. */
export interface CompactionOptions {
  /** Default: `structured`. */
  format?: CompactionFormat;
  /** Compact without being asked, when the window fills. Default: true. */
  auto?: boolean;
  /** How full the window may get, as a share of it. Default: 0.8. */
  at?: number;
  /** Which limit `at` is a share of, where a model names both. Default: `context_window`. */
  limit?: "context_window" | "input_tokens";
  /** What to do when a model names no limit. Default: `skip`. */
  withoutLimit?: "skip" | "throw";
  /** Id of the model that summarises. Default: the run's own. */
  model?: string;
  /** Turns that stay: everything from the so-manieth user message from the end on. Default: 1. */
  keepTurns?: number;
  /** `structured`: the largest share of the window those turns may keep; what is over is summarised, whole answers with their results. `tagged`: the same of what was answered in a turn before it was compacted last. Default: 0.3. */
  keepShare?: number;
  /** Keep the first user message and the newest request word for word, whatever is summarised. Default: true; `tagged`: false. */
  keepTask?: boolean;
  /** Least share of the history's tokens that must be gained, or it stays as it is; null: whatever is gained. Default: 0.1. */
  minGain?: number | null;
  /** Tell the ledger in the memory. Default: true; `tagged`: false. */
  ledger?: boolean;
  /** `tagged`: `marked` heads the memory's messages with a mark, keeps only text of the last turns, lets what was retained accumulate; `plain` does none of these. Default: `marked`. */
  form?: "marked" | "plain";
  /** What the summary is to hold. */
  summaryPrompt?: string;
  /** Instructions beside `summaryPrompt`, each an item of its own. Default: none. */
  summaryDirectives?: readonly string[];
  /** `tagged`: what is to be retained; null: nothing is. */
  retainPrompt?: string | null;
  /** Instructions beside `retainPrompt`, each an item of its own. Default: none. */
  retainDirectives?: readonly string[];
  /** Output limit of a summarising call; `structured`: at most 15 % of a window that is known. Default: 8,192; null: the model's own. */
  summaryMaxTokens?: number | null;
  /** A shorter summary is none. Default: 16 characters; `tagged`: 1. */
  minSummaryCharacters?: number;
  /** Characters of one tool result the summariser reads, from both ends; less where its window is small; null: all of it. Default: 4,000. */
  resultCharacters?: number | null;
  /** `note`: a history that cannot be summarised becomes a note with its numbers. `keep`: it stays as it is. Default: `keep`. */
  onFailure?: "keep" | "note";
  /** Compact also when a run ends, so that the next one starts small. Default: false; `tagged`: true. */
  atEnd?: boolean;
}

/** Options with every default filled in. */
export type CompactionSettings = {
  [name in Exclude<keyof CompactionOptions, "model" | "form">]-?: Exclude<CompactionOptions[name], undefined>;
} & { model?: string; form: "marked" | "plain" };

const summarise =
  "Summarize the conversation so it can be continued later. Focus on decisions, results, constraints, and next steps. Keep it concise and factual.";
const retain =
  "List concrete details that must be preserved verbatim. Include tool output refs, file paths, identifiers, commands, TODOs, and any critical decisions.";

/** What the options must be. */
export const compactionChecks: ChecksOf<CompactionOptions> = {
  format: oneOf("structured", "tagged"),
  auto: flag,
  at: portion,
  limit: oneOf("context_window", "input_tokens"),
  withoutLimit: oneOf("skip", "throw"),
  model: text,
  // Floored, and never below 0.
  keepTurns: real,
  keepShare: ratio,
  keepTask: flag,
  minGain: orNull(ratio),
  ledger: flag,
  form: oneOf("marked", "plain"),
  summaryPrompt: text,
  summaryDirectives: listOf(text),
  retainPrompt: orNull(text),
  retainDirectives: listOf(text),
  summaryMaxTokens: orNull(atLeast(1)),
  minSummaryCharacters: finite0,
  resultCharacters: orNull(atLeast(200)),
  onFailure: oneOf("keep", "note"),
  atEnd: flag,
};

const given = membersOf<CompactionOptions>(compactionChecks);

/**
 * The settings that options come to.
 * @throws RondoError `invalid_request` naming the option that cannot be used
 */
export function compactionSettings(options: CompactionOptions = {}): CompactionSettings {
  checkGiven(given, options, "compaction");
  const format = options.format ?? "structured";
  const tagged = format === "tagged";
  return {
    format,
    auto: options.auto ?? true,
    at: options.at ?? 0.8,
    limit: options.limit ?? "context_window",
    withoutLimit: options.withoutLimit ?? "skip",
    ...(options.model === undefined ? {} : { model: options.model }),
    keepTurns: Math.max(0, Math.floor(options.keepTurns ?? 1)),
    keepShare: options.keepShare ?? 0.3,
    keepTask: options.keepTask ?? !tagged,
    minGain: options.minGain === undefined ? 0.1 : options.minGain,
    ledger: options.ledger ?? !tagged,
    form: options.form ?? "marked",
    summaryPrompt: options.summaryPrompt ?? summarise,
    summaryDirectives: [...(options.summaryDirectives ?? [])],
    retainPrompt: options.retainPrompt === undefined ? retain : options.retainPrompt,
    retainDirectives: [...(options.retainDirectives ?? [])],
    summaryMaxTokens: options.summaryMaxTokens === undefined ? 8192 : options.summaryMaxTokens,
    minSummaryCharacters: options.minSummaryCharacters ?? (tagged ? 1 : 16),
    resultCharacters: options.resultCharacters === undefined ? 4000 : options.resultCharacters,
    onFailure: options.onFailure ?? "keep",
    atEnd: options.atEnd ?? tagged,
  };
}
