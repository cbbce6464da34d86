// The room of patterns: building blocks of regular expressions.

/** Escapes a text for a regular expression without the flag `u` or `v`, so that it matches only itself. */
export const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/**
 * Matches what any of the given patterns matches, so that a long list can have a line for each. Their own flags are
 * ignored.
 */
export const anyOf = (flags: string, ...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join("|"), flags);

/** Matches any of the given phrases, ignoring case. */
export const phrases = (...list: readonly RegExp[]): RegExp => anyOf("i", ...list);
