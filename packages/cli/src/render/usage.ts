// The room of usage: what a run cost, in words. Unreported amounts are called unknown, never zero.

import type { Run, Usage } from "@rondo/core";

type Spend = Run["spend"];

const number = (value: number): string => value.toLocaleString("en-US");

export const counted = (value: number, one: string, many: string = `${one}s`): string =>
  `${number(value)} ${value === 1 ? one : many}`;

/** The usage of one answer: `1,200 tokens in (800 cached), 34 out`. */
export function usageText(usage: Usage | undefined): string {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage ?? {};
  if (inputTokens === undefined && outputTokens === undefined) return "usage unknown";
  const input = inputTokens === undefined ? "unknown tokens in" : `${counted(inputTokens, "token")} in`;
  const cache = [
    cachedInputTokens ? `${number(cachedInputTokens)} cached` : "",
    cacheWriteTokens ? `${number(cacheWriteTokens)} written to the cache` : "",
  ].filter((part) => part !== "");
  const output = outputTokens === undefined ? "unknown out" : `${number(outputTokens)} out`;
  const reasoning = reasoningTokens ? ` (${number(reasoningTokens)} reasoning)` : "";
  return `${input}${cache.length === 0 ? "" : ` (${cache.join(", ")})`}, ${output}${reasoning}`;
}

/** The usage of a whole run. */
export function spendText(spend: Spend, modelCalls: number): string {
  if (modelCalls === 0 && spend.tokens === 0) return "usage unknown";
  const usage = usageText(spend.usage);
  if (spend.uncounted === 0 || usage === "usage unknown") return usage;
  return `at least ${usage} (${counted(spend.uncounted, "answer")} not counted)`;
}

/** The cost of a whole run: empty if nothing was spent, `cost unknown` without a known price or count. */
export function costText(spend: { readonly tokens: number; readonly usd: number | undefined }): string {
  if (spend.usd === undefined) return spend.tokens === 0 ? "" : "cost unknown";
  if (spend.usd === 0) return "";
  return `$${spend.usd >= 0.01 ? spend.usd.toFixed(2) : spend.usd.toPrecision(2)}`;
}

/** A duration: `340 ms`, `2.1 s`, `3 min 4 s`. */
export function spanText(ms: number): string {
  // What would round up to 1,000 ms is shown in seconds.
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}

/** A point in time, in local time: `2026-11-21 16:03:12`. */
export function timeText(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  );
}
