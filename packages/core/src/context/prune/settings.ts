// The room of the settings of pruning: accepts any value, and returns valid settings or null.
//
// Settings often come from a file that a person wrote. An invalid value is replaced by the default; an unknown mode turns
// pruning off, because a typing error must not cut a history.

export interface PruneOptions {
  /** `cache-ttl`: prunes when the provider's cache has expired. Anything else: off. */
  mode: "cache-ttl" | "off" | (string & {});
  /**
   * How long after the last request the cache expires: `5m`, `90s`, `1h30m`; a bare number is minutes. 0: never prune.
   * Default: 5 minutes.
   */
  ttl?: string | number;
  /** Results after the Nth answer from the end are never pruned; this is N. Default: 3. 0: all may be pruned. */
  keepLastAssistants?: number;
  /** Below this share of the window nothing is pruned, 0 to 1. Default: 0.3. */
  softTrimRatio?: number;
  /** From this share on results are cleared, oldest first, 0 to 1. Default: 0.5. */
  hardClearRatio?: number;
  /** Results are cleared only if they have this many characters together. Default: 50,000. */
  minPrunableToolChars?: number;
  /** A result over `maxChars` keeps its head and tail. Default: 4,000; 1,500 and 1,500. */
  softTrim?: { maxChars?: number; headChars?: number; tailChars?: number };
  hardClear?: { enabled?: boolean; placeholder?: string };
  /** The tools whose results may be pruned, as globs (`*`). `deny` overrides `allow`; an empty `allow` means every tool. */
  tools?: { allow?: readonly string[]; deny?: readonly string[] };
  /** Results with files that are left alone: all of them, or this many of the newest. Default: `all`. */
  keepFileResults?: "all" | number;
  /** Also leave out the reasoning of answers before the kept ones. Default: false. */
  stripThinking?: boolean;
  /** The weight of a Chinese, Japanese or Korean character. Default: 1. */
  cjkWeight?: number;
  /** Results over this many characters are trimmed even below `softTrimRatio`. Default: none. */
  maxToolResultChars?: number;
}

export interface PruneSettings {
  ttlMs: number;
  keepLastAssistants: number;
  softTrimRatio: number;
  hardClearRatio: number;
  minPrunableToolChars: number;
  softTrim: { maxChars: number; headChars: number; tailChars: number };
  hardClear: { enabled: boolean; placeholder: string };
  /** Lower case. */
  tools: { allow: readonly string[]; deny: readonly string[] };
  keepFileResults: "all" | number;
  stripThinking: boolean;
  cjkWeight: number;
  maxToolResultChars: number | undefined;
}

/** Settings with their defaults, or null: pruning is off. Never throws. */
export function pruneSettings(given: unknown): PruneSettings | null {
  const raw = objectIn(given);
  if (raw.mode !== "cache-ttl") return null;
  const soft = objectIn(raw.softTrim);
  const hard = objectIn(raw.hardClear);
  const tools = objectIn(raw.tools);
  const placeholder = typeof hard.placeholder === "string" ? hard.placeholder.trim() : "";
  const weight = numberIn(raw.cjkWeight);
  const most = numberIn(raw.maxToolResultChars);
  return {
    ttlMs: durationMs(raw.ttl) ?? 5 * 60_000,
    keepLastAssistants: count(raw.keepLastAssistants, 3),
    softTrimRatio: share(raw.softTrimRatio, 0.3),
    hardClearRatio: share(raw.hardClearRatio, 0.5),
    minPrunableToolChars: count(raw.minPrunableToolChars, 50_000),
    softTrim: {
      maxChars: count(soft.maxChars, 4_000),
      headChars: count(soft.headChars, 1_500),
      tailChars: count(soft.tailChars, 1_500),
    },
    hardClear: {
      enabled: typeof hard.enabled === "boolean" ? hard.enabled : true,
      placeholder: placeholder === "" ? "[Old tool result content cleared]" : placeholder,
    },
    tools: { allow: names(tools.allow), deny: names(tools.deny) },
    keepFileResults: numberIn(raw.keepFileResults) === undefined ? "all" : count(raw.keepFileResults, 0),
    stripThinking: raw.stripThinking === true,
    cjkWeight: weight === undefined ? 1 : Math.max(1, weight),
    maxToolResultChars: most === undefined ? undefined : Math.max(0, Math.floor(most)),
  };
}

/** Whether a tool's results may be pruned. */
export function isPrunable(tool: unknown, { allow, deny }: PruneSettings["tools"]): boolean {
  const name = typeof tool === "string" ? tool.trim().toLowerCase() : "";
  if (deny.some((glob) => matches(name, glob))) return false;
  return allow.length === 0 || allow.some((glob) => matches(name, glob));
}

/** Matches a glob of letters and `*`, in linear time for any name that a model may make up. */
function matches(name: string, glob: string): boolean {
  const [first = "", ...rest] = glob.split("*");
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
    return false;
  let at = first.length;
  const end = name.length - last.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `1h30m`, `5` (minutes), or undefined. */
function durationMs(given: unknown): number | undefined {
  const text = (typeof given === "number" ? String(given) : typeof given === "string" ? given : "")
    .trim()
    .toLowerCase();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 60_000);
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    ms += Number(amount) * (units[unit as string] as number);
  return Math.round(ms);
}

function objectIn(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

const numberIn = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

const count = (value: unknown, other: number): number => Math.max(0, Math.floor(numberIn(value) ?? other));

const share = (value: unknown, other: number): number => Math.min(1, Math.max(0, numberIn(value) ?? other));

function names(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((name): name is string => typeof name === "string")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
}
