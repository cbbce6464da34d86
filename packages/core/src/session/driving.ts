// The room of driving: who drives a session's run, under which lease, and what becomes of words said meanwhile.
//
// A drive is one stretch of work under one lease, or several. A driver that has parked is not gone at once: its lease
// has to be let go. What is said in that moment is held, written when nobody stands in the way, and acted on by another
// stretch of the same drive, so that whoever speaks while the session says `running` is always heard.
//
// Others may write to the session while nobody drives it here. Whoever then says or does something here compares first, and
// reads what is new: a word is written behind it, and what is done is done in the session as it is.

import { longestWait } from "../clock.ts";
import { type RondoError, toRondoError } from "../errors.ts";
import { whenThere } from "../journal/when-there.ts";
import { Writer } from "../journal/writer.ts";
import type { BroughtResult } from "../loop/child-facts.ts";
import { Driver } from "../loop/drive.ts";
import type { ListenerList } from "../loop/driving/telling.ts";
import { outlivesRun } from "../loop/driving/timely.ts";
import type { CallKey, CallResult, CodeChange, Fact } from "../loop/records.ts";
import { inFlight, isOpen, type State } from "../loop/state.ts";
import { type RunResult, resultOf } from "../result.ts";
import { isLiveGrant } from "../rules/grants.ts";
import { changeText, newsOf } from "./changes.ts";
import type { Known } from "./known.ts";
import { aboutOf, type SessionParts, shellOf } from "./parts.ts";
import { type GoOn, Words } from "./words.ts";

/** What a stretch begins with, said of the session as it is by then: it throws where that can no longer be. */
type First = () => Fact | undefined;

/** One drive, from the moment somebody wants the run driven until nobody does. */
interface Drive<Output> {
  /** What it comes to. */
  readonly result: Promise<RunResult<Output>>;
  /** What was said while the lease is on its way, or on its way back; undefined while words are taken at once. */
  held: Fact[] | undefined;
  /** It has written what it begins with. */
  begun: boolean;
  /** Somebody who wants the run driven found its driver stopped, and the drive not over. */
  wanted: boolean;
  /** How to hear no more of the signals that end what is driven. */
  readonly heeded: (() => void)[];
  /** What is to follow it, at once. */
  readonly afterwards: (() => void)[];
}

export class Driving<Output> {
  readonly #parts: SessionParts;
  readonly #driver: Driver;
  readonly #writer: Writer;
  readonly #known: Known;
  readonly #words: Words;
  #drive: Drive<Output> | undefined;
  #areOptionsTold = false;
  #changed: readonly CodeChange[] = [];
  /** Nobody could listen when it was opened. */
  #tellsChanges = false;
  /** What was read since is not of this process: the run in it, if one is open, was another's. */
  #isOthers = false;

  /** @param state what `known` came to */
  constructor(parts: SessionParts, known: Known, state: State, listeners: ListenerList) {
    this.#parts = parts;
    this.#known = known;
    this.#writer = new Writer(parts.journal, parts.id, parts.lease);
    this.#driver = new Driver(
      shellOf(parts, this.#writer, () => this.#driver.state),
      listeners,
      state,
      (fact) => this.#postLate(fact),
      known.prefix,
    );
    this.#words = new Words(this.#driver, () => this.#readNews());
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
    return this.#drive?.result;
  }

  /** The run has ended, and the drive is not over: what is left is to let go. */
  get ending(): boolean {
    return this.#drive?.begun === true && this.state.run?.end !== undefined;
  }

  /** A result that somebody brings for a call, as the conversation gets it. */
  brought(call: CallKey, result: BroughtResult): CallResult | Promise<CallResult> {
    return this.#driver.brought(call, result);
  }

  /** Why nothing that is said here can be kept any more: the journal failed. Where another was faster, its records are read. */
  get failed(): RondoError | undefined {
    const { failed } = this.#driver;
    return failed?.kind === "conflict" ? undefined : failed;
  }

  /** Whether a run was begun here, and no other process has begun one since: its options stand in the records. */
  get areOptionsTold(): boolean {
    return this.#areOptionsTold;
  }

  get changed(): readonly CodeChange[] {
    return this.#changed;
  }

  /**
   * Takes over the run that another process left, where there is one, and says so in the records. By force whoever holds
   * the session is fenced off also where no run is open: it may be about to begin one, or not have let go of the last.
   * @param mayBe throws where there may be none, unless somebody holds the session: nothing is written then
   */
  async takeOver(force: boolean, mayBe: () => void): Promise<void> {
    if (!isOpen(this.state.run) && !force) return;
    // Who refuses to go on fences nobody off.
    if (isOpen(this.state.run)) this.#newsNow();
    await this.#writer.take(force, () => {});
    try {
      // Whoever had it may have written until now, and its run may have ended.
      this.#startFrom(await this.#known.readOn(this.#driver.written));
      if (!isOpen(this.state.run)) return;
      mayBe();
      this.#reopen();
      await this.#driver.settled();
    } finally {
      await this.#writer.release();
    }
  }

  #newsNow(): ReturnType<typeof newsOf> {
    return newsOf(this.#parts.id, this.state.options, this.#parts.resolved);
  }

  /** What another process left open goes on in this one. */
  #reopen(): void {
    const news = this.#newsNow();
    this.#changed = news.changed ?? [];
    this.#tellsChanges = this.#changed.length > 0;
    this.#driver.post({ type: "opened", by: "session", ...aboutOf(this.#parts), ...news });
    this.#isOthers = false;
  }

  /** Compares, and reads what others have written, where they have; what to go on from then. A promise only where that takes a while. */
  #readNews(): GoOn | Promise<GoOn> {
    const { failed, written } = this.#driver;
    return whenThere(failed === undefined && this.#writer.isAt(this.state.seq), (isUpToDate) =>
      isUpToDate ? () => {} : whenThere(this.#known.readOn(written), (read) => () => this.#startFrom(read)),
    );
  }

  #startFrom(read: State): void {
    if (read.seq !== this.state.seq || this.#driver.failed !== undefined) {
      this.#isOthers = true;
      this.#areOptionsTold = false;
    }
    this.#driver.startFrom(read);
  }

  /** Reads what others have written, unless somebody drives here; a promise only where that takes a while. */
  lookAgain(): void | Promise<void> {
    if (this.#drive === undefined && this.failed === undefined) return this.#words.lookAgain();
  }

  /** Hands a fact in that nobody need act on. */
  post(fact: Fact): void {
    const drive = this.#drive;
    if (drive === undefined) this.#words.say(fact);
    else if (drive.held === undefined) this.#driver.post(fact);
    else drive.held.push(fact);
  }

  /** Like a word, what comes late waits where somebody reads, or begins to drive; what cannot be kept of it is nobody's loss. */
  #postLate(fact: Fact): void {
    try {
      this.post(fact);
    } catch {
      // The journal may be closed by now, or another's.
    }
  }

  /** What was handed in, and is not written yet. */
  get unwritten(): readonly Fact[] {
    return [...this.#driver.mail, ...(this.#drive?.held ?? []), ...this.#words.waiting];
  }

  /** Hands a fact in, if any, and sees to it that the run is driven: by whoever does, or from now on. */
  goOn(first?: First, signal?: AbortSignal): Promise<RunResult<Output>> {
    const drive = this.#drive;
    if (drive === undefined) return this.begin(first, signal);
    const fact = first?.();
    if (fact !== undefined) this.post(fact);
    if (!this.#driver.running) drive.wanted = true;
    this.#heed(drive, signal);
    return drive.result;
  }

  /** Whoever wants the run driven may end it by a signal of their own, as long as this drive lasts. */
  #heed({ heeded }: Drive<Output>, signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const abort = (): void => this.abort(signal.reason);
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener("abort", abort, { once: true });
    heeded.push(() => signal.removeEventListener("abort", abort));
  }

  /** Drives until the run ends, parks or is left. @param first what is written first */
  begin(first: First | undefined, signal: AbortSignal | undefined): Promise<RunResult<Output>> {
    // It would fail again, perhaps with other words.
    const why = this.failed ?? this.#words.takeUnkept();
    if (why !== undefined) return Promise.reject(why);
    const { promise: result, resolve } = Promise.withResolvers<RunResult<Output>>();
    const drive = { result, held: undefined, begun: false, wanted: false, heeded: [], afterwards: [] };
    // From here on, not from the first wait: a listener hears of the run's start before that, and may abort it there.
    this.#drive = drive;
    resolve(this.#stretches(drive, first, signal));
    // Whoever asked gets the rejection; nobody else may be surprised by it.
    result.catch(() => {});
    return result;
  }

  /** Ends the run that is active, as it is by now; one that has just ended stays as it is. Never throws: it is called by signals, whose listeners may not. */
  abort(reason: unknown): void {
    if (this.ending) return;
    const why = typeof reason === "string" ? reason : toRondoError(reason ?? "aborted").message;
    const asked: Fact = { type: "abort_asked", reason: why };
    // Where somebody drives, a journal that refuses it has ended the drive, and whoever drives hears of it.
    const unheard = (thrown: unknown): void =>
      this.#drive === undefined ? this.#words.unkept(toRondoError(thrown)) : undefined;
    const end = (): void => {
      if (this.#drive !== undefined) void this.goOn(() => asked);
      else if (isOpen(this.state.run)) {
        this.#words.say(asked);
        // Nobody would hear of it here, and the run ends all the same.
        const unkept = this.#words.takeUnkept();
        this.goOn().catch((thrown) => this.#words.untold(thrown));
        if (unkept !== undefined) this.#words.unkept(unkept);
      }
    };
    try {
      Promise.resolve(whenThere(this.lookAgain(), end)).catch(unheard);
    } catch (thrown) {
      unheard(thrown);
    }
  }

  /** Leaves at the next safe point; after `withinMs`, at once. */
  async drain(withinMs: number): Promise<void> {
    const drive = this.#drive;
    if (drive === undefined) return;
    this.#driver.leave();
    const cancel = this.#parts.clock.after(Math.min(withinMs, longestWait), () => this.#driver.leaveNow());
    try {
      await drive.result.catch(() => {});
    } finally {
      cancel();
    }
  }

  /** Does something as soon as this drive is over, before anybody can think that nobody drives. */
  afterwards<Result>(deed: () => Promise<Result>): Promise<Result> {
    const drive = this.#drive;
    if (drive === undefined) return deed();
    return new Promise((resolve) => drive.afterwards.push(() => resolve(deed())));
  }

  /** Resolves when nobody drives and everything that was said is in the journal. */
  async settled(): Promise<void> {
    await this.#drive?.result.catch(() => {});
    await this.written();
    // Another drive, or what was looked at first, may have begun by now.
    if (this.#drive !== undefined) await this.settled();
  }

  /** Resolves when what was said while nobody drove is in the journal. */
  written(): Promise<void> {
    return this.#words.written();
  }

  async #stretches(
    drive: Drive<Output>,
    first: First | undefined,
    signal: AbortSignal | undefined,
  ): Promise<RunResult<Output>> {
    try {
      let how = await this.#stretch(drive, first, () => this.#heed(drive, signal));
      while (how === "parked" && drive.wanted) how = await this.#stretch(drive, undefined, () => {});
      this.#postHeld(drive);
      return this.result;
    } catch (thrown) {
      try {
        drive.held = [...this.#driver.takeUnheard(), ...(drive.held ?? []).filter(outlivesRun)];
        this.#postHeld(drive);
      } catch (unkept) {
        // What was said meanwhile cannot be kept either, and whoever speaks next is told.
        this.#words.unkept(toRondoError(unkept));
      }
      throw thrown;
    } finally {
      // All in one turn of the process with the last look at what is wanted: nobody speaks in between.
      for (const stop of drive.heeded) stop();
      this.#driver.stay();
      this.#drive = undefined;
      for (const follow of drive.afterwards) follow();
    }
  }

  /** What was said in a moment that is over is handed in. */
  #postHeld(drive: Drive<Output>): void {
    const held = drive.held ?? [];
    drive.held = undefined;
    for (const fact of held) this.#words.say(fact);
  }

  async #stretch(
    drive: Drive<Output>,
    first: First | undefined,
    begun: () => void,
  ): Promise<"done" | "parked" | "left"> {
    try {
      const taking = this.#begin(drive, first);
      if (taking !== undefined) await taking;
      begun();
      const how = await this.#driver.run();
      // What came since is still written under the lease; what comes from here on waits until it is gone.
      drive.held = [];
      await this.#driver.settled();
      return how;
    } finally {
      drive.held ??= [];
      await this.#writer.release();
    }
  }

  /** Begins when what was said before is written: once the lease is taken, it would come from a stranger. */
  #begin(drive: Drive<Output>, first: First | undefined): void | Promise<void> {
    if (!this.#words.areUnderWay) return this.#take(drive, first);
    drive.held ??= [];
    return this.#words.written().then(() => this.#take(drive, first));
  }

  /** Takes the lease, reads what others have written, then writes what the stretch begins with, and what was said meanwhile. */
  #take(drive: Drive<Output>, first: First | undefined): void | Promise<void> {
    const begin = (): void => {
      const fact = first?.();
      const { run } = this.state;
      if (isOpen(run) && this.#isOthers) this.#reopen();
      // What was given up when this session was left is lost, and that is a fact.
      else if (isOpen(run) && inFlight(run))
        this.#driver.post({ type: "opened", by: "session", ...aboutOf(this.#parts) });
      // Nothing has told it yet that time went by: leave that ran out meanwhile would let a call run.
      else if (isOpen(run) && first === undefined && this.#leaveRanOut) this.#driver.post({ type: "woke" });
      this.#isOthers = false;
      this.#tellChanges();
      const { held = [] } = drive;
      drive.wanted = false;
      if (fact !== undefined) this.#driver.post(fact);
      // One that is refused at once is held still.
      for (; held[0] !== undefined; held.shift()) this.#driver.post(held[0]);
      drive.held = undefined;
      if (fact?.type === "run_started") this.#areOptionsTold = true;
      drive.begun = true;
    };
    // Whoever has it now refuses our next group, and that ends the run here; what is in flight is stopped at once.
    const lost = (error: RondoError): void => this.#driver.lose(error);
    const taking = whenThere(this.#writer.take(false, lost), () =>
      whenThere(this.#readNews(), (goOn) => {
        goOn();
        begin();
      }),
    );
    if (taking instanceof Promise) drive.held ??= [];
    return taking;
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
    this.#driver.tell({ type: "warning", code: "changed", message });
  }
}
