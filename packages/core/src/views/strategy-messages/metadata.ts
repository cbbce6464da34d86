// The room of the strategy's figures: what a run has cost, in the twelve fields that its clients expect.
//
// Tokens and prices are summed over the rounds. Figures of one call (unit prices, currency, latency) are those of the first
// round. In this format an unknown figure is a zero as well.

import { ownMember } from "../../json/object.ts";
import type { Json, JsonObject, Usage } from "../../message.ts";
import { costOf, type Price, ratesOf } from "../../price.ts";

/** Per million tokens. */
export interface StrategyPrice extends Price {
  /** Default: `USD`. */
  currency?: string;
}

/** The cost of one round. */
export interface RoundCost {
  promptTokens: number;
  completionTokens: number;
  promptPrice: number;
  completionPrice: number;
  currency: string;
  promptUnitPrice: number;
  completionUnitPrice: number;
  /** Seconds. */
  latency: number;
}

const free: Price = { input: 0, output: 0 };

/** The cost of an answer; undefined if its tokens were not counted. */
export function roundCost(
  usage: Usage | undefined,
  price: StrategyPrice | undefined,
  latency: number,
): RoundCost | undefined {
  if (usage?.inputTokens === undefined && usage?.outputTokens === undefined) return undefined;
  const { inputTokens = 0, outputTokens = 0 } = usage;
  const { input, output } = costOf(price ?? free, usage);
  const unit = ratesOf(price ?? free, inputTokens);
  return {
    promptTokens: inputTokens,
    completionTokens: outputTokens,
    promptPrice: rounded(input),
    completionPrice: rounded(output),
    currency: price === undefined ? "" : (price.currency ?? "USD"),
    promptUnitPrice: unit.input,
    completionUnitPrice: unit.output,
    latency,
  };
}

/** A sum of prices, rounded so that no errors of binary fractions show. */
const rounded = (price: number): number => Math.round(price * 1e12) / 1e12;

/** The price, currency and tokens of one log. */
export function logFigures(cost: RoundCost | undefined): JsonObject {
  return {
    total_price: cost === undefined ? 0 : rounded(cost.promptPrice + cost.completionPrice),
    currency: cost?.currency ?? "",
    total_tokens: cost === undefined ? 0 : cost.promptTokens + cost.completionTokens,
  };
}

/** The figures of a whole run. */
export function executionMetadata(costs: readonly RoundCost[]): JsonObject {
  const [first] = costs;
  const sum = (field: "promptTokens" | "completionTokens" | "promptPrice" | "completionPrice"): number =>
    rounded(costs.reduce((total, cost) => total + cost[field], 0));
  const promptPrice = sum("promptPrice");
  const completionPrice = sum("completionPrice");
  const unit = first === undefined ? 0 : 0.000_001;
  return {
    total_price: rounded(promptPrice + completionPrice),
    currency: first?.currency ?? "",
    total_tokens: sum("promptTokens") + sum("completionTokens"),
    prompt_tokens: sum("promptTokens"),
    prompt_unit_price: first?.promptUnitPrice ?? 0,
    prompt_price_unit: unit,
    prompt_price: promptPrice,
    completion_tokens: sum("completionTokens"),
    completion_unit_price: first?.completionUnitPrice ?? 0,
    completion_price_unit: unit,
    completion_price: completionPrice,
    latency: first?.latency ?? 0,
  };
}

/** Knowledge that the run was given, in the words of its retriever. */
export interface ContextItem {
  content: string;
  metadata?: JsonObject | null;
}

const resourceFields = [
  "position",
  "dataset_id",
  "dataset_name",
  "document_id",
  "document_name",
  "document_data_source_type",
  "segment_id",
  "retriever_from",
  "score",
  "segment_hit_count",
  "segment_word_count",
  "segment_position",
  "segment_index_node_hash",
  "page",
  "doc_metadata",
] as const;

/** One retrieved item with every field that clients expect; a missing one is null. */
export function retrieverResource({ content, metadata: given }: ContextItem): JsonObject {
  const metadata = given ?? {};
  const field = (name: string): [string, Json] => [name, ownMember(metadata, name) ?? null];
  return { content, ...Object.fromEntries(resourceFields.map(field)) };
}
