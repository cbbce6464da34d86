// The room of waits in a body: in a member of its own, or in its message.

import type { Json } from "@rondo/core";
import { dateMs, durationMs, lengthOfTime, number, positive, untilMs } from "./duration.ts";

/** The members' names, without separators, and the milliseconds that a number in them counts. Texts have a unit of their own, or none. */
const members: ReadonlyMap<string, number> = new Map([
  // Google's RetryInfo; Code Assist's.
  ["retrydelay", 1000],
  ["quotaresetdelay", 1000],
  // Cloudflare, Discord's form, gateways.
  ["retryafter", 1000],
  ["retryafterseconds", 1000],
  ["retryaftersec", 1000],
  ["retryafterms", 1],
  ["retryinseconds", 1000],
  ["retryinms", 1],
  ["waitseconds", 1000],
  ["waitms", 1],
  // ChatGPT's plans.
  ["resetsinseconds", 1000],
  ["resetinseconds", 1000],
  // CLIProxyAPI, while all its credentials cool down.
  ["resetseconds", 1000],
  // Hugging Face, while a model is loaded.
  ["estimatedtime", 1000],
]);

/** Members that hold a point in time. */
const moments: ReadonlySet<string> = new Set(["resetsat", "resetat", "retryat"]);

/** The wait in a body. */
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
  const name = key.replaceAll("_", "").toLowerCase();
  if (moments.has(name)) return untilMs(String(value), now);
  const each = members.get(name);
  if (each === undefined) return undefined;
  if (typeof value === "number") return positive(value * each);
  if (typeof value === "object") return durationIn(value);
  if (typeof value !== "string") return undefined;
  const count = number(value);
  return count === undefined ? durationMs(value) : positive(count * each);
}

/** Protobuf's duration in its own form, as gateways from gRPC pass it on: `{ "seconds": "3", "nanos": 500000000 }`. */
function durationIn(value: Json): number | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { seconds = null, nanos = 0 } = value;
  const whole = number(String(seconds));
  return whole === undefined ? undefined : positive(whole * 1000 + (number(String(nanos)) ?? 0) / 1e6);
}

const asks = "(?:retry|try again|wait|resets?|available again)[^.\\d]{0,30}?";
const inWords = new RegExp(`${asks}(?:in|after|for)? ~?(${lengthOfTime})`, "i");
/** The header as a gateway quotes it: a number without a unit. */
const quoted = /\bretry[-_ ]after[\\"']*[:=]? ?[\\"']*(\d+(?:\.\d+)?)(?![\d.]|[-:/]\d| ?[a-z])/i;
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
