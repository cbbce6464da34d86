// The room of waits that a body tells: by a member of its own, or in its words.

import type { Json } from "@rondo/core";
import { dateMs, durationMs, lengthOfTime, positive, untilMs } from "./duration.ts";

/** Members that say it, and the milliseconds that a number in them counts. Texts have units of their own, or none. */
const members: ReadonlyMap<string, number> = new Map([
  // Google's RetryInfo; Code Assist's.
  ["retryDelay", 1000],
  ["quotaResetDelay", 1000],
  // Cloudflare, Discord's form, gateways.
  ["retry_after", 1000],
  ["retryAfter", 1000],
  ["retry_after_seconds", 1000],
  ["retry_after_ms", 1],
  ["retryAfterMs", 1],
  // ChatGPT's plans.
  ["resets_in_seconds", 1000],
  // CLIProxyAPI, while all its credentials cool down.
  ["reset_seconds", 1000],
  // Hugging Face, while a model is loaded.
  ["estimated_time", 1000],
]);

/** The wait that a body tells. */
export function waitInBody(body: Json, now: number): number | undefined {
  return memberMs(body, now) ?? wordsMs(typeof body === "string" ? body : JSON.stringify(body), now);
}

function memberMs(body: Json, now: number, depth = 0): number | undefined {
  if (typeof body !== "object" || body === null || depth > 6) return undefined;
  for (const [key, value] of Object.entries(body)) {
    const told = ownMs(key, value, now) ?? memberMs(value, now, depth + 1);
    if (told !== undefined) return told;
  }
  return undefined;
}

function ownMs(key: string, value: Json, now: number): number | undefined {
  if (key === "resets_at") return untilMs(String(value), now);
  const each = members.get(key);
  if (each === undefined) return undefined;
  const count = typeof value === "number" ? value : Number(value || Number.NaN);
  if (!Number.isNaN(count)) return positive(count * each);
  return typeof value === "string" ? durationMs(value) : undefined;
}

const asks = "(?:retry|try again|wait|resets?)[^.\\d]{0,30}?";
const inWords = new RegExp(`${asks}(?:in|after|for)? (${lengthOfTime})`, "i");
/** The header, where a gateway quotes it: a number without a unit. */
const quoted = /\bretry[- ]after:? (\d+(?:\.\d+)?)(?![\d.]|[-:/]\d| ?[a-z])/i;
const inChinese = /(\d+(?:\.\d+)?) ?(秒|分钟|小时)(?:钟)?(?:之|以)?后[^。\d]{0,6}(?:再试|重试)/;
const chineseUnits: { readonly [unit: string]: number } = { 秒: 1000, 分钟: 60_000, 小时: 3_600_000 };
const atDate = new RegExp(
  `${asks}(?:after|at|on) (\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)? ?(?:Z|UTC|[+-]\\d\\d:?\\d\\d))`,
  "i",
);

function wordsMs(text: string, now: number): number | undefined {
  const words = text.slice(0, 20_000);
  const length = inWords.exec(words)?.[1];
  if (length !== undefined) return durationMs(length);
  const date = atDate.exec(words)?.[1];
  if (date !== undefined) return dateMs(date, now);
  const seconds = quoted.exec(words)?.[1];
  if (seconds !== undefined) return positive(Number(seconds) * 1000);
  const [, count, unit = ""] = inChinese.exec(words) ?? [];
  return count === undefined ? undefined : positive(Number(count) * (chineseUnits[unit] ?? 0));
}
