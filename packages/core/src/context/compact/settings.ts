// The room of the settings of compaction: the options, and the settings made from them.
//
// There are two formats. `structured` is Rondo's own: one memory message with a summary, the decisions, what is done, left
// and next, and the ledger; the task and the newest request stay word for word. `tagged` has a retain and a summary message,
// then the last turns. Settings are plain JSON, because the journal stores them with the run's other options.

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

/** The options; every one has a default. */
export interface CompactionOptions {
  /** Default: `structured`. */
  format?: CompactionFormat;
  /** Compact without being asked, when the window fills. Default: true. */
  auto?: boolean;
  /** How full the window may get, as a share of it. Default: 0.8. */
  at?: number;
  /** Which limit `at` is a share of, if a model has both. Default: `context_window`. */
  limit?: "context_window" | "input_tokens";
  /** What to do if a model has no known limit. Default: `skip`. */
  withoutLimit?: "skip" | "throw";
  /** Id of the model that summarises. Default: the run's own. */
  model?: string;
  /** How many turns at the end are kept, each beginning with a user message. Default: 1. */
  keepTurns?: number;
  /**
   * The largest share of the window for those turns. `structured`: the rest is summarised, in whole answers with their
   * results. `tagged`: applies only to answers that a turn had before it was last compacted. Default: 0.3.
   */
  keepShare?: number;
  /** Keep the first user message and the newest request word for word. Default: true; `tagged`: false. */
  keepTask?: boolean;
  /**
   * The least share of the history's tokens that must be saved, else the history stays as it is; null: any saving is
   * enough. Default: 0.1.
   */
  minGain?: number | null;
  /** Put the ledger into the memory. Default: true; `tagged`: false. */
  ledger?: boolean;
  /**
   * `tagged`: `marked` begins the memory's messages with a mark, keeps only the text of the last turns, and accumulates
   * retained texts; `plain` does none of these. Default: `marked`.
   */
  form?: "marked" | "plain";
  /** What the summary must contain. */
  summaryPrompt?: string;
  /** Instructions in addition to `summaryPrompt`, each as its own item. Default: none. */
  summaryDirectives?: readonly string[];
  /** `tagged`: what must be retained; null: nothing. */
  retainPrompt?: string | null;
  /** Instructions in addition to `retainPrompt`, each as its own item. Default: none. */
  retainDirectives?: readonly string[];
  /** Output limit of a summarising call; `structured`: at most 15 % of a known window. Default: 8,192; null: the model's own. */
  summaryMaxTokens?: number | null;
  /** A shorter summary is ignored. Default: 16 characters; `tagged`: 1. */
  minSummaryCharacters?: number;
  /**
   * How many characters of one tool result the summariser reads, from both ends; fewer if its window is small; null: all.
   * Default: 4,000.
   */
  resultCharacters?: number | null;
  /**
   * What happens to a history that cannot be summarised. `note`: it is replaced by a note with its numbers. `keep`: it
   * stays as it is. Default: `keep`.
   */
  onFailure?: "keep" | "note";
  /** Also compact when a run ends, so that the next one starts small. Default: false; `tagged`: true. */
  atEnd?: boolean;
}

/** Options with every default filled in. */
export type CompactionSettings = {
  [name in Exclude<keyof CompactionOptions, "model" | "form">]-?: Exclude<CompactionOptions[name], undefined>;
} & { model?: string; form: "marked" | "plain" };

/** Whether the tail keeps only what was said, and the memory's messages begin with marks. */
export const isMarked = ({ format, form }: Pick<CompactionSettings, "format" | "form">): boolean =>
  format === "tagged" && form === "marked";

const summarise =
  "Summarize the conversation so it can be continued later. Focus on decisions, results, constraints, and next steps. Keep it concise and factual.";
const retain =
  "List concrete details that must be preserved verbatim. Include tool output refs, file paths, identifiers, commands, TODOs, and any critical decisions.";

/** The checks of the options. */
export const compactionChecks: ChecksOf<CompactionOptions> = {
  format: oneOf("structured", "tagged"),
  auto: flag,
  at: portion,
  limit: oneOf("context_window", "input_tokens"),
  withoutLimit: oneOf("skip", "throw"),
  model: text,
  // Rounded down, and never below 0.
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
 * The settings made from the options.
 * @throws RondoError `invalid_request` naming the invalid option
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
