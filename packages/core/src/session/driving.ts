// The room of driving: who drives a session's run, under which lease, and what happens to facts that arrive meanwhile.
//
// A drive is one or several stretches of work, each under a lease. A driver that has parked must release its lease. Facts
// that arrive at that moment are held and handled by another stretch: what is sent while the status is `running` takes effect.
//
// Others may write to the session while nobody drives it here. So before this object does something, it reads their new
// records: a message is written after them, and an operation acts on the session as it then is.

import { longestWait } from "../clock.ts";
import { messageOf, type RondoError, toRondoError } from "../errors.ts";
import type { RondoEvent } from "../events.ts";
import { whenThere } from "../journal/maybe-async.ts";
import { Writer } from "../journal/writer.ts";
import type { BroughtResult } from "../loop/child-facts.ts";
import { Driver } from "../loop/drive.ts";
import { outlivesRun } from "../loop/driving/late-results.ts";
import type { ListenerList } from "../loop/driving/telling.ts";
import type { CallKey, CodeChange, Fact } from "../loop/records.ts";
import { isOpen, type State } from "../loop/state.ts";
import { type RunResult, resultOf } from "../result.ts";
import type { KnownState } from "./known-state.ts";
import { type Adopt, OutsideFacts } from "./outside-facts.ts";
import { type SessionParts, shellOf } from "./parts.ts";
import { TakingUp } from "./taking-up.ts";

/** Makes the first fact of a stretch, from the state at that time. Throws if that is no longer possible. */
type First = () => Fact | undefined;

/** One drive, from the moment a caller wants the run driven until no caller does. */
interface Drive<Output> {
  /** Resolves with the result of the run. */
  readonly result: Promise<RunResult<Output>>;
  /** Facts held while the lease is being taken or released; undefined while facts are taken at once. */
  held: Fact[] | undefined;
  /** Its first fact is written. */
  begun: boolean;
  /** A caller wanted the run driven after the driver had stopped and before the drive was over: another stretch follows. */
  wanted: boolean;
  /** Removes the listeners of the callers' abort signals. */
  readonly heeded: (() => void)[];
  /** What to do as soon as it is over. */
  readonly afterwards: (() => void)[];
}

export class Driving<Output> {
  readonly #parts: SessionParts;
  readonly #driver: Driver;
  readonly #writer: Writer;
  readonly #known: KnownState;
  readonly #outside: OutsideFacts;
  readonly #takingUp: TakingUp;
  #drive: Drive<Output> | undefined;
  /** How often the session was drained. */
  drains = 0;

  /** @param state what `known` returned when the session was opened */
  constructor(parts: SessionParts, known: KnownState, state: State, listeners: ListenerList) {
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
    this.#outside = new OutsideFacts(this.#driver, () => this.#readNews());
    this.#takingUp = new TakingUp(parts, this.#driver);
  }

  get state(): State {
    return this.#driver.state;
  }

  get arriving(): RondoEvent[] {
    return this.#driver.arriving;
  }

  /** The result of the last run. @throws RondoError `invalid_request` before the first */
  get result(): RunResult<Output> {
    return resultOf(this.state, this.#parts.id, this.#parts.isPassing);
  }

  /** The promise of the run that is driven. Undefined: none is. */
  get current(): Promise<RunResult<Output>> | undefined {
    return this.#drive?.result;
  }

  /** The run has ended, but the drive is not over: the lease has yet to be released. */
  get ending(): boolean {
    return this.#drive?.begun === true && this.state.run?.end !== undefined;
  }

  /** A result given with `session.answer`, rendered and capped as it enters the history. */
  brought(call: CallKey, result: BroughtResult): ReturnType<Driver["brought"]> {
    return this.#driver.brought(call, result);
  }

  /** How many records the journal has for certain: those that were read, or written here. */
  get kept(): number {
    return Math.max(this.#known.seq, (this.#driver.written?.seq ?? -1) + 1);
  }

  /** Set if the journal failed, so that nothing more can be stored. Not set for a conflict: then the other writer's records are read. */
  get failed(): RondoError | undefined {
    const { failed } = this.#driver;
    return failed?.kind === "conflict" ? undefined : failed;
  }

  /** Whether the last run was started here: then the options in the records are this object's. */
  get areOptionsRecorded(): boolean {
    return this.#takingUp.areOptionsRecorded;
  }

  get changed(): readonly CodeChange[] {
    return this.#takingUp.changed;
  }

  /**
   * Takes over the run that another process left, if there is one, and records that. With `takeOver`, the holder of
   * the session is fenced off even if no run is open: it may be about to start one, or not have released its lease.
   * @param demandMay throws if no run may be open here, unless somebody holds the session: nothing is written then
   */
  async takeOver(force: boolean, demandMay: () => void): Promise<void> {
    if (!isOpen(this.state.run) && !force) return;
    // If this agent refuses to continue, it must not fence the holder off.
    if (isOpen(this.state.run)) this.#takingUp.news();
    await this.#writer.take(force, () => {});
    try {
      // The former holder may have written until now, and its run may have ended.
      this.#startFrom(await this.#known.readOn(this.#driver.written));
      if (!isOpen(this.state.run)) return;
      demandMay();
      this.#takingUp.reopen();
      await this.#driver.settled();
    } finally {
      await this.#writer.release();
    }
  }

  /** Reads what others have written; returns a function that continues from there. A promise only if the journal returns one. */
  #readNews(): Adopt | Promise<Adopt> {
    const { failed, written } = this.#driver;
    const isAsLong = failed === undefined && this.#writer.isAt(this.state.seq);
    const isUpToDate = whenThere(isAsLong, (is) => is && this.#known.endsAs(written));
    const readOn = (): Adopt | Promise<Adopt> =>
      whenThere(this.#known.readOn(written), (read) => () => this.#startFrom(read));
    return whenThere(isUpToDate, (is) => (is ? () => {} : readOn()));
  }

  #startFrom(read: State): void {
    if (read.seq !== this.state.seq || this.#driver.failed !== undefined) this.#takingUp.othersWrote();
    this.#driver.startFrom(read);
  }

  /** Reads what others have written, unless a run is driven here. A promise only if the journal returns one. */
  lookAgain(): void | Promise<void> {
    if (this.#drive === undefined && this.failed === undefined) return this.#outside.lookAgain();
  }

  /** Posts a fact that does not start a drive. */
  post(fact: Fact): void {
    const drive = this.#drive;
    if (drive === undefined) this.#outside.write(fact);
    else if (drive.held === undefined) this.#driver.post(fact);
    else drive.held.push(fact);
  }

  /**
   * Posts a fact that does not start a drive, and resolves when it is in the journal.
   * @throws RondoError why it could not be stored
   */
  async store(fact: Fact): Promise<void> {
    const drive = this.#drive;
    // What fails with the drive is written after it, if it can be.
    const over = drive?.result.catch(() => {});
    this.post(fact);
    if (over !== undefined)
      await Promise.race([this.#driver.durable(() => this.unwritten.includes(fact)), over]);
    await this.#outside.written();
  }

  /** Posts a late result. Like a message it waits while records are read or a drive begins; if it cannot be stored, it is dropped. */
  #postLate(fact: Fact): void {
    try {
      this.post(fact);
    } catch {
      // The journal may be closed by now, or another writer's.
    }
  }

  /** Facts that were posted, and are not written yet. */
  get unwritten(): readonly Fact[] {
    return [...this.#driver.mail, ...(this.#drive?.held ?? []), ...this.#outside.waiting];
  }

  /** Posts a fact, if given, and drives the run unless it is being driven. */
  goOn(first?: First, signal?: AbortSignal): Promise<RunResult<Output>> {
    const drive = this.#drive;
    if (drive === undefined) return this.begin(first, signal);
    const fact = first?.();
    if (fact !== undefined) this.post(fact);
    if (!this.#driver.running) drive.wanted = true;
    this.#heed(drive, signal);
    return drive.result;
  }

  /** Each caller that wants the run driven may abort it with its own signal, as long as this drive lasts. */
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

  /** Drives until the run ends, parks or is drained. @param first makes the first fact */
  begin(first: First | undefined, signal: AbortSignal | undefined): Promise<RunResult<Output>> {
    // It would fail again, perhaps with another error.
    const why = this.failed ?? this.#outside.takeFailure();
    if (why !== undefined) return Promise.reject(why);
    const { promise: result, resolve } = Promise.withResolvers<RunResult<Output>>();
    const drive = { result, held: undefined, begun: false, wanted: false, heeded: [], afterwards: [] };
    // Set now, and not after the first await: a listener may abort the run at its `run_start`, which comes before that.
    this.#drive = drive;
    resolve(this.#stretches(drive, first, signal));
    // The callers get the rejection; it must not also be an unhandled one.
    result.catch(() => {});
    return result;
  }

  /** Aborts the active run; one that has just ended stays as it is. Never throws, because listeners of signals must not. */
  abort(reason: unknown): void {
    if (this.ending) return;
    const why = messageOf(reason ?? "aborted");
    const asked: Fact = { type: "abort_asked", reason: why };
    // While a run is driven, a journal that refuses the abort has ended the drive, and its promise rejects.
    const refused = (thrown: unknown): void =>
      this.#drive === undefined ? this.#outside.keepFailure(toRondoError(thrown)) : undefined;
    const end = (): void => {
      if (this.#drive !== undefined) void this.goOn(() => asked);
      else if (isOpen(this.state.run)) {
        this.#outside.write(asked);
        // Nothing here could report it, and the run ends all the same.
        const failure = this.#outside.takeFailure();
        this.goOn().catch((thrown) => this.#outside.giveBack(thrown));
        if (failure !== undefined) this.#outside.keepFailure(failure);
      }
    };
    try {
      Promise.resolve(whenThere(this.lookAgain(), end)).catch(refused);
    } catch (thrown) {
      refused(thrown);
    }
  }

  /** Stops driving at the next safe point; after `withinMs` milliseconds, at once. */
  async drain(withinMs: number): Promise<void> {
    this.drains += 1;
    const drive = this.#drive;
    if (drive === undefined) return;
    this.#driver.leave();
    const cancel = this.#parts.clock.after(Math.min(withinMs, longestWait), () => this.#driver.leaveNow());
    try {
      await drive.result.catch(() => {});
      // Messages that came too late for this drive: the process may exit next.
      await this.#outside.written().catch((thrown) => this.#outside.giveBack(thrown));
    } finally {
      cancel();
    }
  }

  /** Calls this as soon as the drive is over, before anything else can see the session as not driven. */
  afterwards<Result>(deed: () => Promise<Result>): Promise<Result> {
    const drive = this.#drive;
    if (drive === undefined) return deed();
    return new Promise((resolve) => drive.afterwards.push(() => resolve(deed())));
  }

  /** Resolves when no run is driven, not even one started meanwhile, and everything that was posted is in the journal. */
  async settled(): Promise<void> {
    const { lastTaken } = this.#outside;
    await this.#drive?.result.catch(() => {});
    await this.#outside.written(lastTaken);
    if (this.#drive !== undefined) await this.settled();
  }

  /** The drive itself: one stretch, and another as long as the run parks while a caller wants it driven. */
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
        drive.held = [...this.#driver.takeUnkept(), ...(drive.held ?? []).filter(outlivesRun)];
        this.#postHeld(drive);
      } catch (refused) {
        // Facts that arrived meanwhile cannot be stored either, and the next caller gets the error.
        this.#outside.keepFailure(toRondoError(refused));
      }
      throw thrown;
    } finally {
      // Synchronously after the last check of what is wanted, so that no fact can come in between.
      for (const stop of drive.heeded) stop();
      this.#driver.stay();
      this.#drive = undefined;
      for (const follow of drive.afterwards) follow();
    }
  }

  #postHeld(drive: Drive<Output>): void {
    const held = drive.held ?? [];
    drive.held = undefined;
    for (const fact of held) this.#outside.write(fact);
  }

  /** One stretch of work under a lease. @param begun is called when its first fact is written */
  async #stretch(
    drive: Drive<Output>,
    first: First | undefined,
    begun: () => void,
  ): Promise<"done" | "parked" | "left"> {
    try {
      const taking = this.#takeInTurn(drive, first);
      if (taking !== undefined) await taking;
      begun();
      const how = await this.#driver.run();
      // What has arrived is still written under the lease; what arrives from here on waits until it is released.
      drive.held = this.#driver.takeMail();
      await this.#driver.settled();
      return how;
    } finally {
      drive.held ??= [];
      await this.#writer.release();
    }
  }

  /** Takes the lease when earlier facts are written: once the lease is taken, a write without it would be refused. */
  #takeInTurn(drive: Drive<Output>, first: First | undefined): void | Promise<void> {
    if (!this.#outside.areUnderWay) return this.#take(drive, first);
    drive.held ??= [];
    return this.#outside.written().then(() => this.#take(drive, first));
  }

  /** Takes the lease and reads what others have written. Then the stretch begins. */
  #take(drive: Drive<Output>, first: First | undefined): void | Promise<void> {
    // The next group will be refused, which ends the run here; what is in flight is stopped at once.
    const lost = (error: RondoError): void => this.#driver.lose(error);
    const taking = whenThere(this.#writer.take(false, lost), () =>
      whenThere(this.#readNews(), (adopt) => {
        adopt();
        this.#beginStretch(drive, first);
      }),
    );
    if (taking instanceof Promise) drive.held ??= [];
    return taking;
  }

  /** Writes what a stretch begins with: what has become of an open run, the stretch's own fact, and the facts that were held. */
  #beginStretch(drive: Drive<Output>, first: First | undefined): void {
    const fact = first?.();
    this.#takingUp.goOn(first === undefined);
    const { held = [] } = drive;
    drive.wanted = false;
    if (fact !== undefined) this.#driver.post(fact);
    // A fact that is refused at once stays held.
    for (; held[0] !== undefined; held.shift()) this.#driver.post(held[0]);
    drive.held = undefined;
    if (fact?.type === "run_started") this.#takingUp.areOptionsRecorded = true;
    drive.begun = true;
  }
}
