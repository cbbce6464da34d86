// The room of the report: the options of a check, and its result.

/** One thing that is wrong. */
export interface Finding {
  /** `torn_tail`: the rest of a group that a crash cut off and that was never acknowledged. `newer`: written by a newer Rondo. */
  what: "torn_tail" | "damage" | "newer";
  /** What is wrong and where, as a sentence. */
  message: string;
  session?: string;
  /** True when it was a torn tail and was cut off. */
  repaired: boolean;
}

export interface CheckReport {
  path: string;
  kind: "sqlite" | "jsonl";
  /** Number of undamaged sessions. */
  sessions: number;
  records: number;
  /** Size of the journal's files in bytes. */
  bytes: number;
  findings: Finding[];
}

export interface CheckOptions {
  /** Cut torn tails off. Default false. */
  repair?: boolean;
  /** How long to wait for another process's append, in milliseconds. Default 5,000. */
  busyTimeoutMs?: number;
}
