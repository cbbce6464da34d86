// The room of the search thread's messages: between the main thread and the search thread.

/** What to search. */
export interface SearchOrder {
  root: string;
  path: string;
  source: string;
  flags: string;
  /** The pattern as plain text, if it may have been meant so. */
  plain?: string;
  glob?: string;
  includeIgnored: boolean;
  maxMatches: number;
  maxFileBytes: number;
  /** Where the thread writes the name of the current file: 4 bytes of length, then UTF-8. */
  at: SharedArrayBuffer;
}

export interface FoundLine {
  path: string;
  line: number;
  text: string;
}

/** What was found since the last message (`lines`), and in total (the numbers). */
export interface SearchNews {
  lines: FoundLine[];
  matches: number;
  files: number;
  searched: number;
  binary: number;
  large: number;
  unreadable: number;
  /** Entries that git ignores; what is inside them is not counted. */
  ignored: number;
  /** Links, which are not followed. */
  links: number;
  /** Files, until one matched, that contain the pattern as plain text. */
  plain: number;
  /** Files not in UTF-8, if the pattern has characters beyond ASCII: it cannot match there. */
  foreign: number;
}

/** Before anything was searched. */
export const noNews: SearchNews = {
  lines: [],
  matches: 0,
  files: 0,
  searched: 0,
  binary: 0,
  large: 0,
  unreadable: 0,
  ignored: 0,
  links: 0,
  plain: 0,
  foreign: 0,
};
