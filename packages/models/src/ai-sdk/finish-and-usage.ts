// The room of finish reasons and usage, in either library's terms: why an answer ended, and what it counted.
//
// The AI SDK's finish reason is coarser than the provider's, which comes with it and is used if it is known. A missing
// count stays unknown, never zero.

import type { Stop, StopKind, Usage } from "@rondo/core";
import type { FinishReason, SpecUsage, Unified } from "./spec.ts";

const byUnified: ReadonlyMap<string, StopKind> = new Map<string, StopKind>([
  ["stop", "end_turn"],
  ["length", "max_tokens"],
  ["content-filter", "content_filter"],
  ["tool-calls", "tool_use"],
  ["error", "error"],
]);

/** Providers' finish reasons that the AI SDK reduces to a coarser one. */
const byRaw: ReadonlyMap<string, StopKind> = new Map<string, StopKind>([
  ["stop_sequence", "stop_sequence"],
  ["pause_turn", "pause"],
  ["refusal", "refusal"],
  ["model_context_window_exceeded", "context_overflow"],
  ["malformed_function_call", "malformed_call"],
  ["malformed_tool_use", "malformed_call"],
  ["malformed_model_output", "malformed_call"],
]);

/** What a finish reason means by itself, in whichever version's form. */
export function stopWords(reason: unknown): { wire: StopKind; raw?: string; unified?: string } {
  const told = typeof reason === "object" && reason !== null ? (reason as Partial<FinishReason>) : undefined;
  const unified = typeof reason === "string" ? reason : told?.unified;
  const raw = typeof told?.raw === "string" ? told.raw : unified;
  const wire = byRaw.get(raw?.toLowerCase() ?? "") ?? byUnified.get(unified ?? "") ?? "unknown";
  return { wire, ...(raw === undefined ? {} : { raw }), ...(unified === undefined ? {} : { unified }) };
}

const toUnified: { readonly [K in StopKind]: Unified } = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  context_overflow: "length",
  refusal: "content-filter",
  content_filter: "content-filter",
  malformed_call: "error",
  error: "error",
  pause: "other",
  aborted: "other",
  unknown: "other",
};

export function finishReason(stop: Stop): FinishReason {
  return { unified: toUnified[stop.kind], raw: stop.raw };
}

type Counts = { [K in keyof Usage]: number | undefined };

/** Usage of version 3 and 4 (nested), or of version 2 (flat). */
export function countsOf(usage: unknown): Counts {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = asRecord(usage);
  if (typeof inputTokens !== "object" && typeof outputTokens !== "object")
    return {
      inputTokens: count(inputTokens),
      outputTokens: count(outputTokens),
      cachedInputTokens: count(cachedInputTokens),
      reasoningTokens: count(reasoningTokens),
    };
  const [input, output] = [asRecord(inputTokens), asRecord(outputTokens)];
  return {
    inputTokens: count(input.total),
    outputTokens: count(output.total),
    cachedInputTokens: count(input.cacheRead),
    cacheWriteTokens: count(input.cacheWrite),
    reasoningTokens: count(output.reasoning),
  };
}

export function specUsage(usage: Usage = {}): SpecUsage {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    inputTokens: {
      total: inputTokens,
      // Without any cache counts, all of the input is uncached.
      noCache: inputTokens === undefined ? undefined : rest(inputTokens, cachedInputTokens, cacheWriteTokens),
      cacheRead: cachedInputTokens,
      cacheWrite: cacheWriteTokens,
    },
    outputTokens: {
      total: outputTokens,
      text:
        outputTokens === undefined || reasoningTokens === undefined
          ? undefined
          : rest(outputTokens, reasoningTokens),
      reasoning: reasoningTokens,
    },
  };
}

const rest = (all: number, ...parts: (number | undefined)[]): number =>
  Math.max(
    0,
    parts.reduce<number>((left, part) => left - (part ?? 0), all),
  );

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** The string, or an empty one for anything else. */
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Any value as an object whose members can be read. */
export function asRecord(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null ? (value as { [name: string]: unknown }) : {};
}
