// The room of durations: every way to write one, in milliseconds.
//
// The rule: a positive number, or unknown. Never 0.

const units: readonly (readonly [name: RegExp, ms: number])[] = [
  [/^m(?:s|illi)/, 1],
  [/^s/, 1000],
  [/^m/, 60_000],
  [/^h/, 3_600_000],
  [/^d/, 86_400_000],
];

/** A number with its unit, by all the unit's names. */
const amount =
  "\\d+(?:\\.\\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])";
/** Several of them: `1m30s`, `6hr 29min`, `1 minute and 30 seconds`. Part of a pattern. */
export const lengthOfTime: string = `${amount}(?:,? ?(?:and )?${amount})*`;

const whole = new RegExp(`^${lengthOfTime}$`, "i");
const parts = new RegExp(amount, "gi");

/** A duration in words, or a bare number of seconds. */
export function durationMs(text: string): number | undefined {
  const trimmed = text.trim();
  const bare = number(trimmed);
  if (bare !== undefined) return positive(bare * 1000);
  if (trimmed.length > 60 || !whole.test(trimmed)) return undefined;
  let total = 0;
  for (const [part] of trimmed.toLowerCase().matchAll(parts)) {
    const unit = part.replace(/^[\d.]+ ?/, "");
    total += Number.parseFloat(part) * (units.find(([name]) => name.test(unit))?.[1] ?? 0);
  }
  return positive(total);
}

/** A plain decimal number. Not `Number()`: that makes 0 of null and "". */
export function number(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

export function positive(ms: number | undefined): number | undefined {
  return ms !== undefined && Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : undefined;
}

/** Numbers from here on are not seconds to wait but a time since the epoch; from the second on in milliseconds. */
const epochSeconds = 1e9;
const epochMs = 1e12;

/** A duration, a timestamp, or a time since the epoch. */
export function untilMs(text: string, now: number): number | undefined {
  const bare = number(text);
  if (bare !== undefined && bare >= epochSeconds)
    return positive((bare >= epochMs ? bare : bare * 1000) - now);
  return /^\d{4}-\d\d-\d\d/.test(text) ? dateMs(text, now) : durationMs(text);
}

/**
 * A timestamp followed by a time zone: `2026-01-10T14:11:16Z`, `2026-01-10 14:11:16 +0800`. Without a zone it is undefined,
 * because reading it in this machine's zone could be hours off.
 */
export function dateMs(text: string, now: number): number | undefined {
  const iso = text
    .trim()
    .replace(/^(\S{10})[ T]/, "$1T")
    .replace(/ ?UTC$/, "Z")
    .replace(/ ?([+-]\d\d):?(\d\d)$/, "$1:$2");
  return /(?:z|[+-]\d\d:\d\d)$/i.test(iso) ? positive(Date.parse(iso) - now) : undefined;
}
