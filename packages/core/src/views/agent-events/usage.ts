// The room of the usage summary: what a session has cost, by model, and how much of the window is left.
//
// A view of records: it sums every model call with known usage, those of summaries included, and keeps the last usage.

import { ownMember } from "../../json/object.ts";
import type { LogRecord } from "../../loop/records.ts";
import type { Usage } from "../../message.ts";

export interface UsageSums {
  calls: number;
  total_tokens: number;
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens: number;
  cache_creation_tokens: number;
}

export interface UsageSummary extends UsageSums {
  by_model: Record<string, UsageSums>;
  /** The usage of the newest call whose usage the provider reported; null before the first, and if the newest one has none. */
  last: UsageSums | null;
}

const nothing = (): UsageSums => ({
  calls: 0,
  total_tokens: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  cache_creation_tokens: 0,
});

/**
 * Sums the usage of a session's records.
 * @param options.enableUsageTracking as for the preset: if false, nothing is summed, but `last` is still set
 */
export function usageSummary(
  records: Iterable<LogRecord>,
  options: { enableUsageTracking?: boolean } = {},
): UsageSummary {
  const summary: UsageSummary = { ...nothing(), by_model: {}, last: null };
  let model = "";
  let models: readonly string[] = [];
  for (const record of records) {
    if ((record.type === "run_started" || record.type === "opened") && record.options !== undefined)
      models = record.options.models.map((one) => one.origin.model);
    if (record.type === "model_started") model = models[record.model] ?? "";
    const usage = usageIn(record);
    if (usage === undefined) continue;
    if (usage === null) {
      summary.last = null;
      continue;
    }
    summary.last = sumsOf(usage);
    if (options.enableUsageTracking === false) continue;
    add(summary, summary.last);
    const answered = record.type === "model_finished" || record.type === "summary_finished";
    const name = answered ? record.message.origin.model : model;
    const sums = ownMember(summary.by_model, name) ?? nothing();
    add(sums, summary.last);
    Object.defineProperty(summary.by_model, name, { value: sums, enumerable: true, configurable: true });
  }
  return summary;
}

/** The usage in a record: null if it was not reported, undefined if the record is about no model call. */
function usageIn(record: LogRecord): Usage | null | undefined {
  // An answer, whether to the user or to the loop itself (a summary): its usage was reported, or it is null.
  if ("message" in record && "stop" in record.message) return record.message.usage ?? null;
  return "usage" in record ? record.usage : undefined;
}

function sumsOf(usage: Usage): UsageSums {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    calls: 1,
    total_tokens: inputTokens + outputTokens,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cached_input_tokens: cachedInputTokens,
    cache_creation_tokens: cacheWriteTokens,
  };
}

function add(sums: UsageSums, more: UsageSums): void {
  sums.calls += more.calls;
  sums.total_tokens += more.total_tokens;
  sums.input_tokens += more.input_tokens;
  sums.output_tokens += more.output_tokens;
  sums.cached_input_tokens += more.cached_input_tokens;
  sums.cache_creation_tokens += more.cache_creation_tokens;
}

/**
 * How much of the window is left, in whole per cent from 0 to 100; null if the usage or the limit is unknown.
 * @param used tokens of the last call
 */
export function contextLeftPercent(
  used: number | null | undefined,
  limit: number | null | undefined,
): number | null {
  if (used === null || used === undefined || limit === null || limit === undefined || !(limit > 0))
    return null;
  if (used <= 0) return 100;
  return Math.min(100, Math.max(0, Math.round((1 - used / limit) * 100)));
}
