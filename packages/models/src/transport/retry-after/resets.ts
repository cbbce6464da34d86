// The room of reset times: when a rate limit starts anew, as providers state it in every response's headers, under many
// names.
//
// Limits known to be exhausted count first, the longest wait of several; otherwise the first header in the list that says
// anything. Headers that do not say what they limit count only if nothing is left, or nothing says how much is left.

import { objectIn } from "../../json-values.ts";
import { number, positive, untilMs } from "./duration.ts";
import type { WaitSource } from "./source.ts";

type Names = readonly [reset: string, remaining: string];

const both = (limit: string): Names => [`x-ratelimit-reset-${limit}`, `x-ratelimit-remaining-${limit}`];
const anthropic = (limit: string): Names => [
  `anthropic-ratelimit-${limit}-reset`,
  `anthropic-ratelimit-${limit}-remaining`,
];

const named: readonly Names[] = [
  // OpenAI, Azure, Groq, Fireworks
  both("requests"),
  both("tokens"),
  both("input-tokens"),
  both("output-tokens"),
  // Cerebras
  both("requests-minute"),
  both("tokens-minute"),
  both("requests-hour"),
  both("tokens-hour"),
  both("requests-day"),
  both("tokens-day"),
  anthropic("requests"),
  anthropic("tokens"),
  anthropic("input-tokens"),
  ["anthropic-ratelimit-unified-reset", "anthropic-ratelimit-unified-status"],
  anthropic("output-tokens"),
  ["anthropic-priority-input-tokens-reset", "anthropic-priority-input-tokens-remaining"],
  ["anthropic-priority-output-tokens-reset", "anthropic-priority-output-tokens-remaining"],
];

const unnamed: readonly Names[] = [
  // Anthropic's plans: two limits, either of which may be used up
  ["anthropic-ratelimit-unified-5h-reset", "anthropic-ratelimit-unified-5h-status"],
  ["anthropic-ratelimit-unified-7d-reset", "anthropic-ratelimit-unified-7d-status"],
  // OpenRouter, Together, and most gateways
  ["x-ratelimit-reset", "x-ratelimit-remaining"],
  ["ratelimit-reset", "ratelimit-remaining"],
  ["x-rate-limit-reset", "x-rate-limit-remaining"],
  // Mistral
  ["ratelimitbysize-reset", "ratelimitbysize-remaining"],
  ["x-ratelimitbysize-reset", "x-ratelimitbysize-remaining"],
];

/** How long until the limit that a response names is reset. */
export function resetMs(source: WaitSource, now: number): number | undefined {
  const header = toldHeaders(source);
  const read = ([reset, remaining]: Names): { wait: number | undefined; left: string | null } => {
    const value = header(reset);
    return { wait: value === null ? undefined : untilMs(value, now), left: header(remaining) };
  };
  const limits = named.map(read);
  const others = unnamed.map(read).filter(({ left }) => left === null || isExhausted(left));
  const all = [...limits, ...others, ...fieldLimits(header("ratelimit"))];
  const exhausted = all.flatMap(({ wait, left }) => (wait !== undefined && isExhausted(left) ? [wait] : []));
  if (exhausted.length > 0) return Math.max(...exhausted);
  return all.find(({ wait }) => wait !== undefined)?.wait;
}

/** Not `=== 0`: Cerebras counts below zero. */
const isExhausted = (left: string | null): boolean =>
  left !== null && (left === "rejected" || /^\s*-?\d+(?:\.\d+)?\s*$/.test(left)) && !(Number(left) > 0);

/**
 * The limits in one field, as in the IETF's drafts: `"minute";r=0;t=17, "day";r=900;t=40000`, or a single one as
 * `limit=100, remaining=0, reset=17`.
 */
function fieldLimits(field: string | null): { wait: number | undefined; left: string | null }[] {
  if (field === null) return [];
  const items = /;\s*[rt]=/.test(field) ? (field.match(/(?:"[^"]*"|[^",])+/g) ?? []) : [field];
  return items.flatMap(fieldLimit);
}

function fieldLimit(field: string): { wait: number | undefined; left: string | null }[] {
  const seconds = /\b(?:t|reset)=(\d+)/.exec(field)?.[1] ?? null;
  const left = /\b(?:r|remaining)=(\d+)/.exec(field)?.[1] ?? null;
  const wait = positive((number(seconds) ?? 0) * 1000);
  return left !== null && !isExhausted(left) ? [] : [{ wait, left }];
}

/** The response's headers, and those that OpenRouter puts into the body. */
function toldHeaders({ header, body }: WaitSource): (name: string) => string | null {
  const error = objectIn(objectIn(body)?.error);
  const told = objectIn(objectIn(error?.metadata)?.headers) ?? {};
  const lower = new Map(Object.entries(told).map(([name, value]) => [name.toLowerCase(), String(value)]));
  // LiteLLM passes on its provider's headers under names of its own.
  return (name) => header(name) ?? lower.get(name) ?? header(`llm_provider-${name}`);
}
