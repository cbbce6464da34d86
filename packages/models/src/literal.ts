// The room of text that stands for itself in a pattern.

/** A text as a part of a regular expression without the flag `u` or `v`: it matches itself and nothing else. */
export const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
