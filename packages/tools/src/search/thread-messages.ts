// The room of the search thread's messages: between the main thread and the search thread.

/** What to search. */
export interface SearchOrder {
  root: string;
  path: string;
  source: string;
  flags: string;
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
};
