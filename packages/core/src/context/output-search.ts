// The room of the search: the lines of a kept text that match, with some around them.
//
// A model's regular expression runs in an engine whose time is linear in the text, so that no pattern can hang a
// process; what that engine lacks (look-around, back-references) is refused in words. Long searches let others work.

import { type Kept, lineCall, linesOf, numbered, pageBytes } from "./output-pages.ts";
import { byteLength } from "./text-size.ts";

export interface SearchAsk {
  pattern: string;
  /** Whether the pattern is a regular expression (RE2 syntax). Default: false, it is meant literally. */
  regex?: boolean;
  /** Lines to show before and after each match. Default: 0. */
  before?: number;
  after?: number;
  /** Default: 50. */
  maxMatches?: number;
}

/** A pattern that cannot be used. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

const mostPattern = 1_000;
/** Characters of one line that a regular expression looks at. */
const mostOfLine = 100_000;
/** Characters looked at before others may work. */
const stride = 200_000;

/**
 * The lines that match, each with its surroundings, at most 64 KiB in all.
 * @throws PatternError when the pattern cannot be used; whatever the signal's reason is, when it fires
 */
export async function searchLines(kept: Kept, ask: SearchAsk, signal?: AbortSignal): Promise<string> {
  const lines = linesOf(kept.text);
  const matches = await matcherOf(ask);
  const most = Math.max(1, ask.maxMatches ?? 50);
  const shown: string[] = [];
  let bytes = 0;
  let looked = 0;
  let more = false;
  let half: number | undefined;
  for (const [at, line] of lines.entries()) {
    looked += line.length + 1;
    if (looked > stride) {
      looked = 0;
      await new Promise((resolve) => setTimeout(resolve, 0));
      signal?.throwIfAborted();
    }
    if (ask.regex === true && line.length > mostOfLine) half ??= at + 1;
    if (!matches(line)) continue;
    more = shown.length >= most;
    if (more) break;
    const found = `ref:${kept.ref}\n${around(lines, at, ask)}`;
    const size = byteLength(found) + (shown.length > 0 ? 2 : 0);
    more = bytes + size > pageBytes;
    if (more && shown.length === 0) return tooLarge(kept, at + 1);
    if (more) break;
    shown.push(found);
    bytes += size;
  }
  const found =
    shown.length === 0
      ? `No matches for: ${ask.pattern}`
      : `${shown.join("\n\n")}${more ? "\n... (truncated)" : ""}`;
  if (half === undefined) return found;
  return `${found}\n\n(A regular expression looks at the first ${mostOfLine} characters of a line; line ${half} is longer.)`;
}

async function matcherOf({ pattern, regex }: SearchAsk): Promise<(line: string) => boolean> {
  if (regex !== true) return (line) => line.includes(pattern);
  if (pattern.length > mostPattern)
    throw new PatternError(`a regular expression may have ${mostPattern} characters, not ${pattern.length}`);
  // Loaded late: hardly any run needs it.
  const { RE2JS } = await import("re2js");
  try {
    const expression = RE2JS.compile(pattern);
    return (line) => expression.matcher(line.length > mostOfLine ? line.slice(0, mostOfLine) : line).find();
  } catch (thrown) {
    throw new PatternError(thrown instanceof Error ? thrown.message : String(thrown));
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

function tooLarge(kept: Kept, line: number): string {
  return [
    `MATCH_TOO_LARGE_TO_RENDER: match at line ${line} exceeded ${pageBytes} bytes.`,
    `ref_id=${kept.ref}`,
    "Reduce search context (before/after) or read the matched line directly:",
    lineCall(kept, line, 0),
  ].join("\n");
}
