// The room of the report: what a check is told, and what it tells.

/** Something that is wrong. */
export interface Finding {
  /** `torn_tail`: what a crash left of a group that was never acknowledged. `newer`: written by a newer Rondo. */
  what: "torn_tail" | "damage" | "newer";
  /** In words, with its place. */
  message: string;
  session?: string;
  /** It was a torn tail, and it was cut off. */
  repaired: boolean;
}

export interface CheckReport {
  path: string;
  kind: "sqlite" | "jsonl";
  /** What is whole. */
  sessions: number;
  records: number;
  /** Bytes of the journal's files. */
  bytes: number;
  findings: Finding[];
}

export interface CheckOptions {
  /** Cut torn tails off. Default false. */
  repair?: boolean;
  /** How long to wait for another process's append, in milliseconds. Default 5,000. */
  busyTimeoutMs?: number;
}
