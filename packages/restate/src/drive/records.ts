// The room of a drive's records: turns facts into records, folds them, publishes them, and writes them in groups.
//
// Restate's own journal already has the facts. The session's state is for readers, and is written soon after.

import { type Fact, type LogRecord, reduce, type State } from "@rondo/core";
import { announce, logEvent, type Shell } from "@rondo/core/driving";
import { lineOf } from "../state/pieces.ts";
import type { Taken } from "../state/taken-mails.ts";
import type { DriverPlace } from "./place.ts";

/** Above this many characters records are written at once. */
const groupSize = 64 * 1024;

/** After these records a session may wait for somebody outside. */
const waits: ReadonlySet<LogRecord["type"]> = new Set<LogRecord["type"]>([
  "approval_asked",
  "child_waits",
  "tool_waits",
]);

export class DriveRecords {
  state: State;
  /** The time of the last completed step, in milliseconds since 1970. */
  now = 0;
  /** Replay is over: whatever is said and done from here on is new. */
  live = false;
  /** The lines of all records appended here. */
  readonly written: string[] = [];
  readonly #place: Pick<DriverPlace, "ctx" | "parts" | "store" | "hub" | "above" | "children" | "waiting">;
  readonly #shell: Shell;
  readonly #taken: Taken;
  /** Aborts work that the state says is no longer wanted. */
  readonly #release: () => void;
  #unwritten: string[] = [];
  #unwrittenSize = 0;

  constructor(place: DriverPlace, shell: Shell, state: State, taken: Taken, release: () => void) {
    this.#place = place;
    this.#shell = shell;
    this.state = state;
    this.#taken = taken;
    this.#release = release;
  }

  get areUnwritten(): boolean {
    return this.#unwritten.length > 0;
  }

  /** Too much is unwritten to wait any longer. */
  get isLong(): boolean {
    return this.#unwrittenSize > groupSize;
  }

  /** Makes records of facts, and folds them. */
  append(facts: readonly Fact[]): void {
    const { ctx, parts, hub, above, children } = this.#place;
    const { redact, rules } = this.#shell;
    for (const fact of facts) {
      const before = this.state;
      const record: LogRecord = {
        ...(redact === undefined ? fact : redact(fact)),
        seq: before.seq,
        at: Math.max(this.now, before.now),
        rand: ctx.rand.random(),
      };
      this.state = reduce(before, record, rules);
      const line = lineOf(record);
      this.#unwritten.push(line);
      this.#unwrittenSize += line.length;
      this.written.push(line);
      children.see(record, before, this.state);
      if (waits.has(record.type)) this.#place.waiting(this.state);
      if (!this.live) continue;
      const events = announce(record, before, this.state, parts.id);
      if (hub.tellRecord(parts.id, record, events, above) && parts.logger !== undefined)
        for (const event of events) logEvent(parts.logger, event);
    }
    if (this.live) this.#release();
  }

  /** Writes appended records to the session's state. @param driven whether the session is still being driven */
  flush(driven: boolean): void {
    this.#unwrittenSize = 0;
    const { store, ctx } = this.#place;
    const tells = !driven && store.driven;
    if (this.#unwritten.length > 0 || tells) store.append(this.#unwritten, driven);
    this.#unwritten = [];
    const taken = this.#taken.news();
    if (taken !== undefined) ctx.set("mail", taken);
  }
}
