// The room of the verdict: compares the sessions' records, what readers saw during the run, and what was really done.

import type { Journal, LogRecord } from "@rondo/core";
import { entriesIn } from "./agent.ts";

/** Reads sessions while they run, and remembers each record that it saw. */
export class Watcher {
  readonly seen: Map<string, string[]> = new Map();
  readonly #journal: Journal;
  readonly #running = new Set<string>();
  readonly #watching: Promise<void>;
  #stopped = false;
  #wake: () => void = () => {};

  constructor(journal: Journal) {
    this.#journal = journal;
    this.#watching = this.#watch();
  }

  watch(session: string): void {
    this.#running.add(session);
    this.#wake();
  }

  unwatch(session: string): void {
    this.#running.delete(session);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#stopped) {
      for (const session of this.#running) {
        const known = this.seen.get(session) ?? [];
        try {
          for (const record of await this.#journal.read(session, known.length))
            known.push(JSON.stringify(record));
        } catch {
          // The node that was asked died; another answers next time.
        }
        this.seen.set(session, known);
      }
      if (this.#running.size === 0 && !this.#stopped)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

export interface Verdict {
  completed: number;
  recordsLost: number;
  writes: number;
  writesTwice: number;
  /** Writes interrupted by a kill: their outcome is unknown, and the model was told so. */
  unknown: number;
  /** Everything that is wrong. */
  findings: string[];
}

export async function verdictOf(
  journal: Journal,
  sessions: readonly string[],
  folder: string,
  watcher: Watcher,
): Promise<Verdict> {
  const verdict: Verdict = {
    completed: 0,
    recordsLost: 0,
    writes: 0,
    writesTwice: 0,
    unknown: 0,
    findings: [],
  };
  const { findings } = verdict;
  for (const session of sessions) {
    const records = await journal.read(session);
    const end = records.findLast((record) => record.type === "run_ended");
    if (end?.type === "run_ended" && end.end.reason === "completed") verdict.completed += 1;
    else findings.push(`${session} did not complete`);
    const lost = lostOf(records, watcher.seen.get(session) ?? []);
    verdict.recordsLost += lost;
    if (lost > 0) findings.push(`${session} lost ${lost} records`);
    writes(session, records, entriesIn(folder, session), verdict);
  }
  return verdict;
}

/** Records that a reader saw and that are now missing or elsewhere; and gaps in the numbering. */
function lostOf(records: readonly LogRecord[], seen: readonly string[]): number {
  const gone = seen.filter((line, seq) => JSON.stringify(records[seq]) !== line).length;
  return gone + records.filter((record, seq) => record.seq !== seq).length;
}

/** Compares what the records say of writes with what was really entered. */
function writes(
  session: string,
  records: readonly LogRecord[],
  entries: readonly string[],
  verdict: Verdict,
): void {
  const { findings } = verdict;
  const done = new Set(entries);
  verdict.writes += done.size;
  if (done.size < entries.length) {
    verdict.writesTwice += entries.length - done.size;
    findings.push(`${session} made ${entries.length - done.size} entries twice`);
  }
  const intents = new Map(
    records.flatMap((record) =>
      record.type === "tool_started" ? [[record.call, record.idempotencyKey] as const] : [],
    ),
  );
  for (const key of done)
    if (![...intents.values()].includes(key))
      findings.push(`${session}: ${key} was done, and no record says so`);
  const asked = new Map(
    records.flatMap((record) =>
      record.type === "model_finished"
        ? record.message.content
            .filter((part) => part.type === "tool_call")
            .map((part, at) => [`${record.seq}.${at}`, part.name] as const)
        : [],
    ),
  );
  for (const record of records) {
    if (record.type !== "tool_finished" || asked.get(record.call) !== "enter") continue;
    if (record.result.code === "outcome_unknown") verdict.unknown += 1;
    else if (!record.result.isError && !done.has(intents.get(record.call) ?? ""))
      findings.push(`${session}: the entry of call ${record.call} is said to be made, and is not`);
  }
}
