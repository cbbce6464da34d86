// The room of driving: who drives a session's run, under which lease, and what becomes of words said meanwhile.
//
// A drive is one stretch of work under one lease, or several. A driver that has parked is not gone at once: its lease
// has to be let go. What is said in that moment is held, written when nobody stands in the way, and acted on by another
// stretch of the same drive, so that whoever speaks while the session says `running` is always heard.

import { longestWait } from "../clock.ts";
import { type RondoError, toRondoError } from "../errors.ts";
import { Writer } from "../journal/writer.ts";
import type { BroughtResult } from "../loop/child-facts.ts";
import { Driver } from "../loop/drive.ts";
import type { Shell } from "../loop/driving/shell.ts";
import type { CallKey, CallResult, CodeChange, Fact, LogRecord } from "../loop/records.ts";
import { inFlight, isOpen, type State } from "../loop/state.ts";
import { type RunResult, resultOf } from "../result.ts";
import { isLiveGrant } from "../rules/grants.ts";
import { changeText, newsOf } from "./changes.ts";
import { aboutOf, type SessionParts, shellOf } from "./parts.ts";

export class Driving<Output> {
  readonly #parts: SessionParts;
  readonly #driver: Driver;
  readonly #writer: Writer;
  readonly #tell: Shell["sink"];
  #drive: Promise<RunResult<Output>> | undefined;
  /** What was said while the lease was on its way, or on its way back. */
  #held: Fact[] | undefined;
  /** Somebody who wants the run driven found its driver stopped, and the drive not over. */
  #wanted = false;
  /** This drive has written what it begins with. */
  #begun = false;
  /** How to hear no more of the signals that end what is driven. */
  #heeded: (() => void)[] = [];
  /** What is to follow this drive, at once. */
  #afterwards: (() => void)[] = [];
  #runsBegun = 0;
  #changed: readonly CodeChange[] = [];
  /** Nobody could listen when it was opened. */
  #tellsChanges = false;

  constructor(parts: SessionParts, state: State, tell: Shell["sink"]) {
    this.#parts = parts;
    this.#tell = tell;
    this.#writer = new Writer(parts.journal, parts.id, parts.lease);
    this.#driver = new Driver(
      shellOf(parts, this.#writer, () => this.#driver.state, tell),
      state,
    );
  }

  get state(): State {
    return this.#driver.state;
  }

  /** The result of the last run. @throws RondoError `invalid_request` before the first */
  get result(): RunResult<Output> {
    return resultOf(this.state, this.#parts.id, this.#parts.isPassing);
  }

  /** What whoever drives comes to. Undefined: nobody does. */
  get current(): Promise<RunResult<Output>> | undefined {
    return this.#drive;
  }

  /** The run has ended, and the drive is not over: what is left is to let go. */
  get ending(): boolean {
    return this.#drive !== undefined && this.#begun && this.state.run?.end !== undefined;
  }

  /** A result that somebody brings for a call, as the conversation gets it. */
  brought(call: CallKey, result: BroughtResult): CallResult | Promise<CallResult> {
    return this.#driver.brought(call, result);
  }

  /** Why nothing that is said here can be kept any more: another was faster, or the journal failed. */
  get failed(): RondoError | undefined {
    return this.#driver.failed;
  }

  /** How many runs were begun here. */
  get runsBegun(): number {
    return this.#runsBegun;
  }

  get changed(): readonly CodeChange[] {
    return this.#changed;
  }

  /**
   * Takes over the run that another process left, where there is one, and says so in the records. By force whoever holds
   * the session is fenced off also where no run is open: it may be about to begin one, or not have let go of the last.
   * @param since what was written since the session was read
   * @param mayBe throws where there may be none, unless somebody holds the session: nothing is written then
   */
  async takeOver(
    force: boolean,
    since: () => Promise<readonly LogRecord[]>,
    mayBe: () => void,
  ): Promise<void> {
    if (!isOpen(this.state.run) && !force) return;
    const newsNow = (): ReturnType<typeof newsOf> =>
      newsOf(this.#parts.id, this.state.options, this.#parts.resolved);
    // Who refuses to go on fences nobody off.
    if (isOpen(this.state.run)) newsNow();
    await this.#writer.take(force, () => {});
    try {
      // Whoever had it may have written until now, and its run may have ended.
      this.#driver.catchUp(await since());
      if (!isOpen(this.state.run)) return;
      mayBe();
      const news = newsNow();
      this.#changed = news.changed ?? [];
      this.#tellsChanges = this.#changed.length > 0;
      this.#driver.post({ type: "opened", by: "session", ...aboutOf(this.#parts), ...news });
      await this.#driver.settled();
    } finally {
      await this.#writer.release();
    }
  }

  /** Hands a fact in that nobody need act on. */
  post(fact: Fact): void {
    if (this.#held === undefined) this.#driver.post(fact);
    else this.#held.push(fact);
  }

  /** What was handed in, and is not written yet. */
  get unwritten(): readonly Fact[] {
    return [...this.#driver.mail, ...(this.#held ?? [])];
  }

  /** Hands a fact in, if any, and sees to it that the run is driven: by whoever does, or from now on. */
  goOn(fact?: Fact, signal?: AbortSignal): Promise<RunResult<Output>> {
    if (this.#drive === undefined) return this.begin(fact, signal);
    if (fact !== undefined) this.post(fact);
    if (!this.#driver.running) this.#wanted = true;
    this.#heed(signal);
    return this.#drive;
  }

  /** Whoever wants the run driven may end it by a signal of their own, as long as this drive lasts. */
  #heed(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const abort = (): void => this.abort(signal.reason);
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener("abort", abort, { once: true });
    this.#heeded.push(() => signal.removeEventListener("abort", abort));
  }

  /** Drives until the run ends, parks or is left. @param first what is written first */
  begin(first: Fact | undefined, signal: AbortSignal | undefined): Promise<RunResult<Output>> {
    // It would fail again, perhaps with other words.
    if (this.failed !== undefined) return Promise.reject(this.failed);
    const drive = Promise.withResolvers<RunResult<Output>>();
    // From here on, not from the first wait: a listener hears of the run's start before that, and may abort it there.
    this.#drive = drive.promise;
    this.#begun = false;
    drive.resolve(this.#stretches(first, signal));
    // Whoever asked gets the rejection; nobody else may be surprised by it.
    drive.promise.catch(() => {});
    return drive.promise;
  }

  /** Ends the run that is active; one that has just ended stays as it is. Never throws: it is called by signals, whose listeners may not. */
  abort(reason: unknown): void {
    if (this.ending) return;
    try {
      void this.goOn({ type: "abort_asked", reason: reasonText(reason) }).catch(() => {});
    } catch {
      // A journal that refuses it has ended the drive, and whoever drives hears of it.
    }
  }

  /** Leaves at the next safe point; after `withinMs`, at once. */
  async drain(withinMs: number): Promise<void> {
    const drive = this.#drive;
    if (drive === undefined) return;
    this.#driver.leave();
    const cancel = this.#parts.clock.after(Math.min(withinMs, longestWait), () => this.#driver.leaveNow());
    try {
      await drive.catch(() => {});
    } finally {
      cancel();
    }
  }

  /** Does something as soon as this drive is over, before anybody can think that nobody drives. */
  afterwards<Result>(deed: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve) => this.#afterwards.push(() => resolve(deed())));
  }

  /** Resolves when nobody drives and everything that was said is in the journal. */
  async settled(): Promise<void> {
    while (this.#drive !== undefined) await this.#drive.catch(() => {});
    await this.written();
  }

  /** Resolves when what was said while nobody drove is in the journal. */
  written(): Promise<void> {
    return this.#driver.settled();
  }

  async #stretches(first: Fact | undefined, signal: AbortSignal | undefined): Promise<RunResult<Output>> {
    try {
      this.#tellChanges();
      let how = await this.#stretch(first, () => this.#heed(signal));
      while (how === "parked" && this.#wanted) how = await this.#stretch(undefined, () => {});
      this.#postHeld();
      return this.result;
    } catch (thrown) {
      try {
        this.#postHeld();
      } catch {
        // What was said meanwhile cannot be kept either, and whoever speaks next is told.
      }
      throw thrown;
    } finally {
      // All in one turn of the process with the last look at what is wanted: nobody speaks in between.
      for (const stop of this.#heeded.splice(0)) stop();
      this.#held = undefined;
      this.#driver.stay();
      this.#drive = undefined;
      for (const follow of this.#afterwards.splice(0)) follow();
    }
  }

  /** What was said in a moment that is over is handed in. */
  #postHeld(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const fact of held) this.#driver.post(fact);
  }

  async #stretch(first: Fact | undefined, begun: () => void): Promise<"done" | "parked" | "left"> {
    try {
      const taking = this.#begin(first);
      if (taking !== undefined) await taking;
      begun();
      const how = await this.#driver.run();
      // What came since is still written under the lease; what comes from here on waits until it is gone.
      this.#held = [];
      await this.#driver.settled();
      return how;
    } finally {
      this.#held ??= [];
      await this.#writer.release();
    }
  }

  /** Begins when what was said before is written: once the lease is taken, it would come from a stranger. */
  #begin(first: Fact | undefined): undefined | Promise<void> {
    const { writing } = this.#driver;
    if (writing === undefined) return this.#take(first);
    this.#held ??= [];
    return writing.then(() => this.#take(first));
  }

  /** Takes the lease, then writes what the stretch begins with, and what was said meanwhile. */
  #take(first: Fact | undefined): undefined | Promise<void> {
    const begin = (): void => {
      const held = this.#held ?? [];
      this.#held = undefined;
      this.#wanted = false;
      const { run } = this.state;
      // What was given up when this session was left is lost, and that is a fact.
      if (isOpen(run) && inFlight(run))
        this.#driver.post({ type: "opened", by: "session", ...aboutOf(this.#parts) });
      // Nothing has told it yet that time went by: leave that ran out meanwhile would let a call run.
      else if (isOpen(run) && first === undefined && this.#leaveRanOut) this.#driver.post({ type: "woke" });
      for (const fact of first === undefined ? held : [first, ...held]) this.#driver.post(fact);
      if (first?.type === "run_started") this.#runsBegun += 1;
      this.#begun = true;
    };
    // Whoever has it now refuses our next group, and that ends the run here; what is in flight is stopped at once.
    const lost = (error: RondoError): void => this.#driver.lose(error);
    const taking = this.#writer.take(false, lost, first === undefined ? this.state.seq : undefined);
    if (taking === undefined) return void begin();
    this.#held ??= [];
    return taking.then(begin);
  }

  /** Leave that was given beforehand has run out since anything happened. */
  get #leaveRanOut(): boolean {
    const { grants, now } = this.state;
    const today = this.#parts.clock.now();
    return grants.some((grant) => isLiveGrant(grant, now) && !isLiveGrant(grant, today));
  }

  /** Once, and before anything happens under the new code. */
  #tellChanges(): void {
    if (!this.#tellsChanges) return;
    this.#tellsChanges = false;
    const message = `the run goes on under other code than it was begun with: ${this.#changed.map(changeText).join("; ")}`;
    this.#tell({ type: "warning", code: "changed", message });
  }
}

function reasonText(reason: unknown): string {
  return typeof reason === "string" ? reason : toRondoError(reason ?? "aborted").message;
}
