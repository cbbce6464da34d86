// The room of search patterns: what a model writes for a regular expression, and where it may have meant another one.
//
// Models have learnt the expressions of grep, of ripgrep and of Perl as well. What JavaScript refuses is refused with its
// words; what it takes for something else finds nothing, and nobody knows why. So that is said where nothing was found.

import { Refusal } from "../reasons.ts";

export interface Expression {
  source: string;
  flags: string;
}

/** The expression of a pattern. @throws Refusal when it is none */
export function expressionOf(pattern: string, literal: boolean, ignoreCase: boolean): Expression {
  const given = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&") : pattern;
  // Flags for the whole pattern, as other languages write them. Of one line neither `m` nor `s` changes anything.
  const inline = literal ? undefined : /^\(\?([imsu]+)\)/.exec(given);
  const source = given.slice(inline?.[0].length ?? 0);
  const needsUnicode = !literal && /(?:^|[^\\])(?:\\\\)*\\(?:[pP]\{|u\{)/.test(source);
  // By characters, and not by the halves of some, wherever the grammar of that, which is stricter, takes the pattern.
  const isUnicode = needsUnicode || faultOf(source, "u") === undefined;
  const flags = `${ignoreCase || inline?.[1]?.includes("i") ? "i" : ""}${isUnicode ? "u" : ""}`;
  const fault = faultOf(source, flags);
  if (fault !== undefined) throw new Refusal(`the pattern cannot be used: ${fault}`);
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

/** Behind backslashes that escape one another. */
const escaped = String.raw`(?:^|[^\\])(?:\\\\)*\\`;

const otherwise: readonly (readonly [found: RegExp, says: string])[] = [
  [/\[\[:\^?[a-z]+:\]/, "[[:space:]] and its like are not known: write \\s, \\d, \\w or [A-Za-z]"],
  [new RegExp(`${escaped}[AZzG]`), "\\A, \\Z, \\z and \\G are not known: ^ and $ are the ends of a line"],
  [new RegExp(`${escaped}[hHRKQE]`), "\\h, \\R, \\K, \\Q and \\E are not known"],
  [new RegExp(`${escaped}[<>]`), "\\< and \\> are the characters: \\b is the edge of a word"],
  [new RegExp(`${escaped}\\|`), "\\| is the character: alternatives are parted by | alone"],
  [/^\/.*\/[a-z]*$/s, "the slashes are a part of the pattern"],
];

/** What a pattern that was not found may have meant, in words. */
export function otherMeanings(pattern: string, literal: boolean): string[] {
  const newline = literal ? pattern.includes("\n") : new RegExp(`\n|${escaped}n`).test(pattern);
  return [
    ...(newline ? ["lines are searched one by one, so that no newline is ever found"] : []),
    ...(literal ? [] : otherwise.filter(([found]) => found.test(pattern)).map(([, says]) => says)),
  ];
}
