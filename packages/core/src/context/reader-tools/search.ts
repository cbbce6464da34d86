// The room of the search: the matching lines of a kept text, with some lines around them.
//
// A model's regular expression runs in an engine with linear time, so no pattern can block the process; what that engine
// does not support (lookaround, backreferences) is refused with an explanation. A long search pauses regularly to let other
// work run.

import { messageOf } from "../../errors.ts";
import { byteLength } from "../../text/size.ts";
import { type Kept, lineCall, linesOf, numbered, pageBytes } from "./pages.ts";

export interface SearchAsk {
  pattern: string;
  /** Whether the pattern is a regular expression (RE2 syntax). Default: false, it is matched literally. */
  regex?: boolean;
  /** Lines to show before and after each match. Default: 0. */
  before?: number;
  after?: number;
  /** Default: 50. */
  maxMatches?: number;
}

/** An invalid pattern. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

const mostPattern = 1_000;
/** How many characters of a line a regular expression is matched against. */
const mostOfLine = 100_000;
/** How many characters are searched before other work may run. */
const stride = 200_000;

/**
 * The matching lines, each with the lines around it, at most 64 KiB in all.
 * @param kept one text, or several, which are searched one after another until there are enough matches
 * @throws PatternError for an invalid pattern; the signal's reason, if it fires
 */
export async function searchLines(
  kept: Kept | AsyncIterable<Kept>,
  ask: SearchAsk,
  signal?: AbortSignal,
): Promise<string> {
  const matches = await matcherOf(ask);
  const search: Search = { shown: [], bytes: 0, looked: 0, more: false };
  for await (const one of "text" in kept ? [kept] : kept) {
    await searchOne(search, one, { ...ask, matches }, signal);
    if (search.more) break;
  }
  const { shown, more, tooLarge, half } = search;
  if (tooLarge !== undefined) return tooLarge;
  const found =
    shown.length === 0
      ? `No matches for: ${ask.pattern}`
      : `${shown.join("\n\n")}${more ? "\n... (truncated)" : ""}`;
  if (half === undefined) return found;
  return `${found}\n\n(A regular expression looks at the first ${mostOfLine} characters of a line; line ${half} is longer.)`;
}

/** The progress of a search. */
interface Search {
  shown: string[];
  bytes: number;
  /** Characters searched since the last pause. */
  looked: number;
  /** There is more than may be shown. */
  more: boolean;
  /** The first match alone is more than may be shown: the text that replaces it. */
  tooLarge?: string;
  /** The first line that was searched only in part. */
  half?: number;
}

async function searchOne(
  search: Search,
  kept: Kept,
  ask: SearchAsk & { matches(line: string): boolean },
  signal: AbortSignal | undefined,
): Promise<void> {
  const lines = linesOf(kept.text);
  const most = Math.max(1, ask.maxMatches ?? 50);
  for (const [at, line] of lines.entries()) {
    search.looked += line.length + 1;
    if (search.looked > stride) {
      search.looked = 0;
      await new Promise((resolve) => setTimeout(resolve, 0));
      signal?.throwIfAborted();
    }
    if (ask.regex === true && line.length > mostOfLine) search.half ??= at + 1;
    if (!ask.matches(line)) continue;
    search.more = search.shown.length >= most;
    if (search.more) return;
    const found = `ref:${kept.ref}\n${around(lines, at, ask)}`;
    const size = byteLength(found) + (search.shown.length > 0 ? 2 : 0);
    search.more = search.bytes + size > pageBytes;
    if (search.more && search.shown.length === 0) search.tooLarge = tooLargeText(kept, at + 1);
    if (search.more) return;
    search.shown.push(found);
    search.bytes += size;
  }
}

async function matcherOf({ pattern, regex }: SearchAsk): Promise<(line: string) => boolean> {
  if (regex !== true) return (line) => line.includes(pattern);
  if (pattern.length > mostPattern)
    throw new PatternError(`a regular expression may have ${mostPattern} characters, not ${pattern.length}`);
  // Loaded only when needed: hardly any run needs it.
  const { RE2JS } = await import("re2js");
  try {
    const expression = RE2JS.compile(pattern);
    return (line) => expression.matcher(line.length > mostOfLine ? line.slice(0, mostOfLine) : line).find();
  } catch (thrown) {
    throw new PatternError(messageOf(thrown));
  }
}

function around(lines: readonly string[], at: number, { before = 0, after = 0 }: SearchAsk): string {
  const from = Math.max(0, at - Math.max(0, before));
  const to = Math.min(lines.length, at + Math.max(0, after) + 1);
  let bytes = 0;
  const rows: string[] = [];
  for (let index = from; index < to && bytes <= pageBytes; index += 1) {
    const row = numbered(lines[index] ?? "", index);
    bytes += byteLength(row) + 1;
    rows.push(row);
  }
  return rows.join("\n");
}

function tooLargeText(kept: Kept, line: number): string {
  return [
    `MATCH_TOO_LARGE_TO_RENDER: match at line ${line} exceeded ${pageBytes} bytes.`,
    `ref_id=${kept.ref}`,
    "Reduce search context (before/after) or read the matched line directly:",
    lineCall(kept, line, 0),
  ].join("\n");
}
