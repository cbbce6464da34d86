// The room of the search thread's messages: what the main thread and the search's thread say to each other.

/** What is to be searched. */
export interface SearchOrder {
  root: string;
  path: string;
  source: string;
  flags: string;
  glob?: string;
  includeIgnored: boolean;
  maxMatches: number;
  maxFileBytes: number;
  /** Where the thread writes the file it is in: a length of 4 bytes, then UTF-8. */
  at: SharedArrayBuffer;
}

export interface FoundLine {
  path: string;
  line: number;
  text: string;
}

/** What was found since the last news (`lines`) and in all (the numbers). */
export interface SearchNews {
  lines: FoundLine[];
  matches: number;
  files: number;
  searched: number;
  binary: number;
  large: number;
  unreadable: number;
  /** Entries that git ignores, without what is in them. */
  ignored: number;
}

/** Before anything was looked at. */
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
