// The room of search patterns: turns a model's pattern into a regular expression, and finds possible misunderstandings.
//
// Models also know the syntaxes of grep, ripgrep and Perl. What JavaScript rejects is refused with JavaScript's message.
// What JavaScript reads as something else matches nothing, without a reason: so a search without matches says so.

import { Refusal } from "../reasons.ts";

export interface Expression {
  source: string;
  flags: string;
}

/** The expression for a pattern. @throws Refusal when it is invalid */
export function expressionOf(pattern: string, literal: boolean, ignoreCase: boolean): Expression {
  const given = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&") : pattern;
  // Inline flags for the whole pattern, as in other languages. Within a single line `m` and `s` have no effect.
  const inline = literal ? undefined : /^\(\?([imsu]+)\)/.exec(given);
  const source = given.slice(inline?.[0].length ?? 0);
  const needsUnicode = !literal && /(?:^|[^\\])(?:\\\\)*\\(?:[pP]\{|u\{)/.test(source);
  // Unicode mode matches whole characters, not surrogates; used whenever its stricter grammar accepts the pattern.
  const isUnicode = needsUnicode || faultOf(source, "u") === undefined;
  const flags = `${ignoreCase || inline?.[1]?.includes("i") ? "i" : ""}${isUnicode ? "u" : ""}`;
  const fault = faultOf(source, flags);
  if (fault !== undefined)
    throw new Refusal(
      `the pattern cannot be used: ${fault}. If it is plain text, set literal: true; in an expression a \\ in front makes ( ) [ ] { } + * ? literal`,
    );
  return { source, flags };
}

function faultOf(source: string, flags: string): string | undefined {
  try {
    new RegExp(source, flags);
    return undefined;
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

/** A position after an odd number of backslashes. */
const escaped = String.raw`(?:^|[^\\])(?:\\\\)*\\`;

const otherwise: readonly (readonly [found: RegExp, says: string])[] = [
  [/\[\[:\^?[a-z]+:\]/, "[[:space:]] and its like are not known: write \\s, \\d, \\w or [A-Za-z]"],
  [new RegExp(`${escaped}[AZzG]`), "\\A, \\Z, \\z and \\G are not known: ^ and $ are the ends of a line"],
  [new RegExp(`${escaped}[hHRKQE]`), "\\h, \\R, \\K, \\Q and \\E are not known"],
  [new RegExp(`${escaped}[<>]`), "\\< and \\> are the characters: \\b is the edge of a word"],
  [new RegExp(`${escaped}\\|`), "\\| is the literal character: alternatives are separated by | alone"],
  [/^\/.*\/[a-z]*$/s, "the slashes are part of the pattern"],
];

/** What a pattern without matches may have meant. */
export function otherMeanings(pattern: string, literal: boolean): string[] {
  const newline = literal ? pattern.includes("\n") : new RegExp(`\n|${escaped}n`).test(pattern);
  return [
    ...(newline ? ["lines are searched one by one, so a newline never matches"] : []),
    ...(literal ? [] : otherwise.filter(([found]) => found.test(pattern)).map(([, says]) => says)),
  ];
}
