// The room of patterns: what regular expressions are put together from.

/** A text as a part of a regular expression without the flag `u` or `v`: it matches itself and nothing else. */
export const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** A pattern that matches what any of the given ones does, so that a long list of them has a line for each. Their own flags do not count. */
export const anyOf = (flags: string, ...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join("|"), flags);
