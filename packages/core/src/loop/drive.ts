// The driver: an async loop that performs the action `next` returns and appends the outcome as records.
//
// It has no policy. Only the driver stamps records. It appends before it acts, and flushes the journal before anything
// leaves the process and before it waits. Input from outside (messages, approvals, aborts) and outcomes (answers,
// results) both enter through one mailbox. When the loop stops waiting for a model or a tool, the driver fires its
// abort signal; a result that still arrives is recorded as late.

import { longestWait, SteadyClock } from "../clock.ts";
import { RondoError, toRondoError } from "../errors.ts";
import type { RondoEvent } from "../events.ts";
import { frozen } from "../json/copy.ts";
import type { Action, Deed } from "./action.ts";
import type { BroughtResult } from "./child-facts.ts";
import { untilWake } from "./deciding/consulting.ts";
import { announce } from "./driving/announce.ts";
import { Groups } from "./driving/groups.ts";
import { held } from "./driving/held.ts";
import { modelStarted, summaryStarted, toolsStarted } from "./driving/intents.ts";
import { type Arriving, isOutcome, isOutsideFact, isVoid, timely } from "./driving/late-results.ts";
import { nextOrEnd } from "./driving/next-or-end.ts";
import { OngoingWork } from "./driving/ongoing.ts";
import type { Shell } from "./driving/shell.ts";
import { type ListenerList, Telling } from "./driving/telling.ts";
import type { CallKey, Fact, LogRecord } from "./records.ts";
import { reduce } from "./reduce.ts";
import { Prefix } from "./request/prefix.ts";
import { inFlight, type State, withRun } from "./state.ts";

export class Driver {
  readonly #shell: Shell;
  readonly #clock: SteadyClock;
  #state: State;
  readonly #mailbox: Arriving[] = [];
  #wake: (() => void) | undefined;
  /** Something arrived after `next` was last called: the loop must call it again before it waits. */
  #stirred = false;
  #running = false;
  readonly #telling: Telling;
  readonly #groups: Groups;
  #unkept: Fact[] = [];
  readonly #prefix: Prefix;
  readonly #ongoing: OngoingWork;
  /** Set by a drain: stop driving `soon`, at the next safe point, or `now`, whatever is in flight. */
  #leaving: "soon" | "now" | undefined;

  /**
   * @param late gets outcomes that arrive while the driver does not run, to `post` them when they can be written; by default they are posted at once
   * @param prefix what was sent before, by another driver of the session
   */
  constructor(
    shell: Shell,
    listeners: ListenerList,
    state: State,
    late: (fact: Fact) => void = (fact) => this.post(fact),
    prefix: Prefix = new Prefix(),
  ) {
    this.#prefix = prefix;
    this.#clock = new SteadyClock(shell.clock, () => this.#state.now);
    this.#shell = { ...shell, clock: this.#clock };
    this.#state = state;
    const teller = { isRunning: () => this.#running, post: (fact: Fact) => this.post(fact) };
    this.#telling = new Telling(listeners, teller, shell.redact);
    this.#groups = new Groups(shell.journal, shell.session, state.seq);
    this.#ongoing = new OngoingWork(this.#shell, {
      state: () => this.#state,
      post: (fact) => {
        if (this.#running) this.post(fact);
        else late(fact);
      },
      tell: this.#telling.tell,
      lose: (error) => this.lose(error),
    });
  }

  get state(): State {
    return this.#state;
  }

  /** The events so far of the step whose answer is awaited. */
  get arriving(): RondoEvent[] {
    return this.#ongoing.arriving;
  }

  get running(): boolean {
    return this.#running;
  }

  /** Facts that were posted, and are appended at the next turn of the loop. */
  get mail(): readonly Fact[] {
    return this.#mailbox;
  }

  /** Facts that `run` did not take, because it was left at once. Returns them once; without that the next `run` takes them. */
  takeMail(): Fact[] {
    return this.#mailbox.splice(0);
  }

  /** Continues from the journal's state, whoever wrote it. Facts of this driver that the journal lacks are dropped. */
  startFrom(state: State): void {
    this.#state = state;
    this.#groups.startAt(state.seq);
  }

  /** Messages and grants that were lost when a `run` failed: the journal has none of them. What was about that run is dropped. Returns them once. */
  takeUnkept(): Fact[] {
    const facts = this.#unkept;
    this.#unkept = [];
    return facts;
  }

  /** What was given with `session.answer`, as a fact: an answer, or a result, rendered and capped as it enters the history. */
  brought(call: CallKey, result: BroughtResult): ReturnType<OngoingWork["brought"]> {
    return this.#ongoing.brought(call, result);
  }

  /** Why this driver can write no more; undefined if it can. */
  get failed(): RondoError | undefined {
    return this.#groups.refusal;
  }

  /**
   * Hands in a fact. While the driver runs, it is appended at the next turn of the loop; otherwise at
   * once, and is durable when `settled` resolves.
   */
  post(fact: Arriving): void {
    if (this.#running) {
      this.#mailbox.push(fact);
      if (fact.type === "abort_asked") this.#ongoing.abortChildren(fact.reason);
      this.#stir();
      return;
    }
    if (isOutcome(fact)) {
      this.#keepLate(fact);
      return;
    }
    const { failed } = this;
    if (failed !== undefined) throw failed;
    this.#take(fact);
    this.#groups.flushInTurn();
  }

  /** The last record of this driver that the journal has acknowledged. */
  get written(): LogRecord | undefined {
    return this.#groups.kept;
  }

  /** The pending write of what was posted while the driver did not run; undefined if there is none. */
  get writing(): Promise<void> | undefined {
    return this.#groups.writing;
  }

  /** Resolves when everything posted while the driver did not run is durable. */
  settled(): Promise<void> {
    return this.#groups.settled();
  }

  /** Resolves once a fact that is posted while the driver runs is durable; never if it cannot be. @param waits whether it is not appended yet */
  durable(waits: () => boolean): Promise<void> {
    // What is appended is in the next group that is written, and while one is written nothing is appended.
    return this.#groups.acknowledged(() => !waits());
  }

  /** Writes a result that arrives when the driver no longer runs, if that is still possible: nobody would see a rejection. */
  #keepLate(fact: Arriving): void {
    if (this.#groups.failed !== undefined) return;
    this.#take(fact);
    try {
      this.#groups.flushInTurn();
    } catch {
      // The journal may be closed by now, or another writer's: a late result may be lost.
    }
  }

  /**
   * Drives until the run has ended, is parked, or was drained.
   * @throws RondoError if the journal refused a record: nothing more is done then
   */
  async run(): Promise<"done" | "parked" | "left"> {
    if (this.#running)
      throw new RondoError("internal", `session ${this.#shell.session} is being driven already`);
    this.#running = true;
    try {
      await this.#groups.settled();
      for (;;) {
        this.#stirred = false;
        this.#appendMail();
        const action = nextOrEnd(this.#state, this.#shell.rules);
        if (action.do === "done" || action.do === "park") {
          await this.#groups.flush();
          // What was posted during the flush is appended before the driver stops.
          if (this.#mailbox.length > 0) continue;
          return action.do === "done" ? "done" : "parked";
        }
        if (this.#leaving !== undefined && this.#leaves(action)) {
          await this.#groups.flush();
          if (this.#mailbox.length > 0 && this.#leaving !== "now") continue;
          return "left";
        }
        const waiting = this.#perform(this.#leaving === undefined ? action : held(action));
        if (waiting !== undefined) await waiting;
      }
    } catch (thrown) {
      this.#abandon(toRondoError(thrown));
      this.#unkept = [...this.#groups.unkept, ...this.#mailbox].filter(isOutsideFact);
      // The rest was about this run, which continues elsewhere, if at all.
      this.#mailbox.length = 0;
      throw thrown;
    } finally {
      this.#running = false;
      this.#clock.settle();
    }
  }

  /**
   * Starts nothing more: `run` resolves once everything in flight has come back, and the run stays open. Also applies to
   * later calls of `run`, until `stay` is called.
   */
  leave(): void {
    this.#leaving ??= "soon";
    this.#ongoing.leave("soon");
    this.#stir();
  }

  /** Abandons what is in flight: it is lost as in a crash, and `run` resolves. */
  leaveNow(): void {
    this.#leaving = "now";
    this.#ongoing.leave("now");
    this.#stir();
  }

  /** Another writer has taken the session, or a sub-agent's records were refused: results could not be stored any more, so everything in flight is stopped. */
  lose(error: RondoError): void {
    // If the driver does not run there is nothing to stop: the next write is refused.
    if (!this.#running) return;
    this.#abandon(error);
    this.#stir();
  }

  /** Revokes a `leave`. */
  stay(): void {
    this.#leaving = undefined;
    this.#ongoing.stay();
  }

  /** Whether a drain may stop here: nothing is in flight, and another process can do what comes next. */
  #leaves(action: Action): boolean {
    if (this.#leaving === "now") return true;
    const { run } = this.#state;
    const busy = this.#ongoing.isAsking || (run !== undefined && inFlight(run));
    return action.do !== "record" && action.do !== "ask" && !busy;
  }

  #perform(action: Deed): Promise<void> | undefined {
    switch (action.do) {
      case "record":
        this.#append(action.facts);
        return undefined;
      case "call_model":
        return this.#callModel(action);
      case "summarise":
        return this.#summarise(action);
      case "start_tools":
        return this.#startTools(action);
      case "ask":
        this.#append([{ type: "approval_asked", calls: action.calls }]);
        return undefined;
      case "reconcile":
        return this.#askCode(action.calls, (key) => this.#ongoing.reconcile(key), action.until);
      case "end_children":
        return this.#askCode(action.calls, (key) => this.#ongoing.endChild(key), action.until);
      case "check_output":
        return this.#askCode([action.text], (text) => this.#ongoing.checkOutput(text));
      case "run_hook":
        return this.#askCode(action.hooks, (ask) => this.#ongoing.askHook(ask), action.until);
      case "wait":
        return this.#wait(action.until);
    }
  }

  /** Emits an event that does not come from a record. */
  tell(event: RondoEvent): void {
    this.#telling.tell(event);
  }

  // ---- records -------------------------------------------------------------------------------------------------

  #append(facts: readonly Fact[]): void {
    const { rules, session, clock, redact } = this.#shell;
    for (const fact of facts) {
      if (fact.type === "run_started") this.#telling.anew();
      const before = this.#state;
      const record: LogRecord = {
        ...(redact === undefined ? fact : redact(fact)),
        seq: before.seq,
        at: clock.now(),
        rand: this.#clock.host.random(),
      };
      this.#state = reduce(before, record, rules);
      this.#groups.waiting.push(record);
      for (const event of announce(record, before, this.#state, session)) {
        // Frozen, so that what is judged is what runs. The rest is not frozen: that would cost a third of a step.
        if (event.type === "approval_request") frozen(event.call.args);
        this.#telling.tell(event);
      }
      this.#ongoing.children.see(record);
    }
    this.#ongoing.release();
  }

  /** All of them: a listener may abort or steer, and what comes next is decided only after that. */
  #appendMail(): void {
    for (let fact = this.#mailbox.shift(); fact !== undefined; fact = this.#mailbox.shift()) this.#take(fact);
  }

  #take(fact: Arriving): void {
    if (!isVoid(fact, this.#state)) this.#append([timely(fact, this.#state)]);
  }

  // ---- what is in flight ---------------------------------------------------------------------------------------

  #callModel(action: Action & { do: "call_model" }): Promise<void> | undefined {
    const { gate } = this.#shell;
    if (gate !== undefined && !gate.pass()) {
      const stir = (): void => this.#stir();
      gate.open = stir;
      // The approval may come after the run's deadline.
      const { until } = untilWake(withRun(this.#state), this.#shell.rules);
      return this.#wait(until, () => gate.pass());
    }
    this.#append([modelStarted(action, this.#prefix)]);
    return this.#onceDurable(() => this.#ongoing.think(action));
  }

  #summarise(action: Action & { do: "summarise" }): Promise<void> | undefined {
    this.#append([summaryStarted(action)]);
    return this.#onceDurable(() => this.#ongoing.summarise(action));
  }

  /** Starts work once the records before it are durable. What arrived meanwhile is appended first, so that nothing starts after an abort. */
  #onceDurable(start: () => void): Promise<void> | undefined {
    const go = (): void => {
      this.#appendMail();
      if (this.#leaving !== "now") start();
    };
    const flushed = this.#groups.flush();
    if (flushed === undefined) go();
    return flushed?.then(go);
  }

  #startTools(action: Action & { do: "start_tools" }): Promise<void> | undefined {
    this.#append(toolsStarted(action, this.#shell.session));
    return this.#onceDurable(() => {
      for (const key of action.calls) this.#ongoing.act(key);
    });
  }

  /**
   * The journal failed: nothing that happens now could be stored, so everything is stopped. The run may be resumed elsewhere
   * from its records, and its sub-agents with it: they are left as they are, and not ended.
   */
  #abandon(error: RondoError): void {
    this.#groups.failed = error;
    this.#ongoing.leave("now", error);
  }

  // ---- waiting -------------------------------------------------------------------------------------------------

  #stir(): void {
    this.#stirred = true;
    this.#wake?.();
  }

  /** Calls user code once the records before it are durable, and waits for its answer. What arrived meanwhile is appended first. */
  async #askCode<What>(what: readonly What[], ask: (one: What) => void, until?: number): Promise<void> {
    await this.#groups.flush();
    if (this.#stirred) return;
    for (const one of what) if (!this.#stirred) ask(one); // The one before may have aborted the run.
    await this.#wait(until);
  }

  /** Waits for mail, for `until`, or for `ready`. If `until` is reached, that is a record (`woke`). */
  async #wait(until: number | undefined, ready?: () => boolean): Promise<void> {
    // Awaited even if there is nothing to write: what is about to arrive must arrive before a simulated clock jumps to its alarm.
    await this.#groups.flush();
    if (this.#stirred || ready?.()) return;
    const { clock } = this.#shell;
    let cancel: (() => void) | undefined;
    const ranOut = await new Promise<boolean>((resolve) => {
      const wake = (): void => resolve(false);
      this.#wake = wake;
      if (until === undefined) return;
      const left = Math.min(Math.max(0, until - clock.now()), longestWait);
      cancel = clock.after(left, () => resolve(true));
    });
    cancel?.();
    this.#wake = undefined;
    if (ranOut && until !== undefined && clock.now() >= until) this.#append([{ type: "woke" }]);
  }
}
