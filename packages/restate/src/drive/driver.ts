// The room of the driver: drives a run of a session inside a Restate invocation.
//
// The same loop as core's driver: fold, ask `next`, perform, append. Whatever comes from the world (time, answers, results,
// which process works on it) comes out of a step that Restate journals; everything else is deterministic, and is recomputed
// when the invocation is replayed. So facts are in Restate's journal the moment they happen, and in the session's state
// soon after, a group at a time. A step waits for the first outcome of all work in flight. The intent of calls is a step
// of its own, before them. Each step says in which workplace it ran: if that changed, what was in flight is lost, and
// `opened` records so, as after any crash; the loop decides as always which calls may start again.

import { CancelledError, RestatePromise } from "@restatedev/restate-sdk";
import type { Action, Fact, State } from "@rondo/core";
import {
  askKey,
  inFlight,
  isThinking,
  isVoid,
  modelStarted,
  nextOrEnd,
  Prefix,
  redactEvent,
  type Shell,
  SteadyClock,
  sentAt,
  shellOf,
  summaryStarted,
  timely,
  toolsStarted,
} from "@rondo/core/driving";
import { errorOf } from "../journal.ts";
import type { Taken } from "../state/taken-mails.ts";
import type { Mail } from "../wire.ts";
import { toolsAreAtWork, type Workplace, type Workplaces } from "../workplace.ts";
import { type ChildCame, factsOfChild } from "./child-calls.ts";
import { cleaned, type Taking, takingOf } from "./journaled-calls.ts";
import { type StepOutcome, stepOutcomeSerde } from "./journaled-step.ts";
import { factOf } from "./outside-facts.ts";
import type { DriverPlace } from "./place.ts";
import { DriveRecords } from "./records.ts";

type Heard =
  | { what: "step"; came: StepOutcome }
  | { what: "mail"; mails: Mail[] }
  | { what: "slept" }
  | { what: "child"; came: ChildCame };

/** How long records of a waiting run are held back before readers see them, in milliseconds. */
const unwrittenMs = 500;

export class RestateDriver {
  readonly #place: DriverPlace;
  readonly #shell: Shell;
  /** A worker whose clock is behind the previous worker's does not wait longer because of it. */
  readonly #clock: SteadyClock;
  readonly #prefix = new Prefix();
  readonly #taken: Taken;
  readonly #invocation: string;
  readonly #taking: Taking;
  #workplace: Workplace;
  readonly #records: DriveRecords;
  /** The workplace that has what is in flight. */
  #owner = "";
  /** How many facts were taken from it. */
  #consumed = 0;
  /** Work that is planned, and actually started by the step that waits for it. */
  readonly #begun = new Map<string, () => void>();
  /** Names of the work planned since the last step. */
  readonly #names: string[] = [];
  /** Questions that are being asked. */
  readonly #asking = new Set<string>();
  #step: RestatePromise<Heard> | undefined;
  #mail: RestatePromise<Heard> | undefined;
  #until: number | undefined;

  /** @param asked the session's state at the last model call */
  constructor(place: DriverPlace, state: State, taken: Taken, asked: State | undefined) {
    const { ctx, parts, workplaces } = place;
    this.#place = place;
    this.#taken = taken;
    this.#invocation = ctx.request().id;
    this.#clock = new SteadyClock(parts.clock, () => Math.max(this.#records.now, this.#records.state.now));
    this.#shell = shellOf({ ...parts, clock: this.#clock }, { append: () => {} }, () => this.#records.state);
    // During replay the state is of the past: nothing may be aborted because of it.
    this.#records = new DriveRecords(place, this.#shell, state, taken, () =>
      this.#workplace.ongoing.release(),
    );
    this.#workplace = workplaces.of(this.#invocation, this.#shell, this.#driving);
    this.#taking = takingOf(ctx, this.#shell, () => this.#workplace.ongoing);
    if (asked !== undefined) this.#prefix.follow(() => sentAt(asked, this.#shell.rules));
  }

  get state(): State {
    return this.#records.state;
  }

  /** The lines of all records appended here. */
  get written(): readonly string[] {
    return this.#records.written;
  }

  /** Writes appended records to the session's state. @param driven whether the session is still being driven */
  flush(driven: boolean): void {
    this.#records.flush(driven);
  }

  /** The first step: where and when the drive begins, and what else must be known first. */
  async start<Begun extends StepOutcome>(
    more: () => Promise<Omit<Begun, keyof StepOutcome>>,
  ): Promise<Begun> {
    const begun = await this.#place.ctx.run("begin", async () => {
      this.#records.live = true;
      const known = await more();
      return { ...known, by: this.#workplace.id, at: this.#clock.now() } as Begun;
    });
    this.#records.now = begun.at;
    this.#owner = begun.by;
    return begun;
  }

  /** Appends the facts that the drive begins with. */
  begin(facts: readonly Fact[]): void {
    this.#records.append(facts);
  }

  /** Takes messages that came before or during the drive. Known or pointless ones are skipped. */
  async take(mails: readonly Mail[]): Promise<void> {
    for (const { n, at, say } of mails) {
      // Without a number it was passed in with the drive itself, and not through the inbox.
      if (n > 0 && !this.#taken.take(n)) continue;
      this.#records.now = Math.max(this.#records.now, at);
      if (say.type === "abort_asked" && say.of !== undefined && say.of !== this.#place.run) {
        this.#place.unwanted.add(say.of);
        continue;
      }
      const fact = await factOf(say, this.#records.state, this.#taking);
      if (fact !== undefined) this.#records.append([fact]);
    }
  }

  /** Drives until the run has ended, or waits for somebody outside. */
  async run(): Promise<{ how: "done" | "parked"; until?: number }> {
    this.#listen();
    for (;;) {
      const action = nextOrEnd(this.#records.state, this.#shell.rules);
      if (action.do === "done") return { how: "done" };
      if (action.do === "park")
        return { how: "parked", ...(action.until === undefined ? {} : { until: action.until }) };
      try {
        await this.#perform(action);
      } catch (thrown) {
        if (!(thrown instanceof CancelledError)) throw thrown;
        // The invocation was cancelled at the server: an abort like any other, which settles as usual.
        this.#records.append([{ type: "abort_asked", reason: "the invocation was cancelled" }]);
      }
    }
  }

  /** The attempt is over. @param ended so is the invocation */
  leave(ended: boolean): void {
    const { workplaces } = this.#place;
    if (ended) workplaces.end(this.#invocation);
    else workplaces.leave(this.#invocation, this.#workplace);
  }

  #perform(action: Exclude<Action, { do: "done" | "park" }>): Promise<void> | undefined {
    switch (action.do) {
      case "record":
        this.#records.append(action.facts);
        return undefined;
      case "ask":
        this.#records.append([{ type: "approval_asked", calls: action.calls }]);
        return undefined;
      case "call_model":
        this.#records.append([modelStarted(action, this.#prefix)]);
        this.#begin("model", () => this.#workplace.ongoing.think(action));
        return this.#wait(undefined);
      case "summarise":
        this.#records.append([summaryStarted(action)]);
        this.#begin("summary", () => this.#workplace.ongoing.summarise(action));
        return this.#wait(undefined);
      case "start_tools":
        return this.#startTools(action);
      case "check_output":
        this.#ask("check_output", () => this.#workplace.ongoing.checkOutput(action.text));
        return this.#wait(undefined);
      case "reconcile":
        for (const key of action.calls)
          this.#ask(`reconcile:${key}`, () => this.#workplace.ongoing.reconcile(key));
        return this.#wait(action.until);
      case "end_children":
        for (const left of this.#records.state.left ?? [])
          if (action.calls.includes(left.call)) this.#place.children.end(left, this.#records.state);
        return this.#wait(action.until);
      case "run_hook":
        for (const hook of action.hooks) this.#ask(askKey(hook), () => this.#workplace.ongoing.askHook(hook));
        return this.#wait(action.until);
      case "wait":
        return this.#wait(action.until);
    }
  }

  // ---- what is in flight ---------------------------------------------------------------------------------------

  /** Plans work under a name that is the same in every replay of the invocation. */
  #begin(name: string, begin: () => void): void {
    this.#begun.set(`${name}@${this.#records.state.seq}`, begin);
    this.#names.push(name);
  }

  #ask(name: string, ask: () => void): void {
    if (this.#asking.has(name)) return;
    this.#asking.add(name);
    this.#begin(name, ask);
  }

  async #startTools(action: Action & { do: "start_tools" }): Promise<void> {
    const { ctx, parts, children } = this.#place;
    const came = await ctx.run(`intend ${action.calls.join(" ")}`, () => this.#intend(), {
      serde: stepOutcomeSerde,
    });
    const { lost } = this.#took(came);
    // Everything else in flight is lost: `next` must decide anew.
    if (lost) return;
    this.#records.append(toolsStarted(action, parts.id));
    for (const key of action.calls) {
      const call = this.#records.state.run?.turn?.calls.find((one) => one.key === key);
      if (call?.child !== undefined) children.start(call, this.#records.state);
      else this.#begin(`act:${key}`, () => this.#workplace.ongoing.act(key));
    }
  }

  /** Records where the calls that are to start will run. */
  async #intend(): Promise<StepOutcome> {
    const gate = this.#place.gate();
    if (gate !== undefined) await gate;
    this.#here();
    this.#records.live = true;
    return { by: this.#workplace.id, at: this.#clock.now() };
  }

  /** Whether what is in flight runs here. If another process has taken over since, this becomes a new workplace. */
  #here(): boolean {
    if (this.#workplace.id === this.#owner) return true;
    const { workplaces } = this.#place;
    if (this.#workplace.used)
      this.#workplace = workplaces.renew(this.#invocation, this.#shell, this.#driving);
    return false;
  }

  get #driving(): Parameters<Workplaces["of"]>[2] {
    const { hub, parts, above } = this.#place;
    const { redact } = this.#shell;
    return {
      state: () => this.#records.state,
      tell: (event) => hub.tell(parts.id, redact === undefined ? event : redactEvent(event, redact), above),
    };
  }

  /** Notes where a step ran. `lost`: work in flight elsewhere was lost. */
  #took(came: StepOutcome): { lost: boolean } {
    this.#records.now = Math.max(this.#records.now, came.at);
    if (came.by === this.#owner) return { lost: false };
    this.#owner = came.by;
    this.#consumed = 0;
    this.#begun.clear();
    const asked = this.#asking.size > 0;
    this.#asking.clear();
    const { run } = this.#records.state;
    if (run === undefined || !inFlight(run)) return { lost: asked };
    const { about } = this.#place.parts;
    this.#records.append([{ type: "opened", by: "session", ...(about === undefined ? {} : { about }) }]);
    return { lost: true };
  }

  // ---- waiting -------------------------------------------------------------------------------------------------

  #listen(): void {
    const { id, promise } = this.#place.ctx.awakeable<Mail[]>();
    this.#place.listen(id);
    this.#mail = promise.map((mails) => ({ what: "mail", mails: mails ?? [] }));
  }

  /** Whether anything runs in a process. */
  get #isLocal(): boolean {
    const { state } = this.#records;
    if (state.run === undefined) return false;
    return this.#asking.size > 0 || isThinking(state.run) || toolsAreAtWork(state);
  }

  /** Waits for whatever comes first, and takes it. A timeout is a fact too. */
  async #wait(until: number | undefined): Promise<void> {
    // Restate already has the facts. State is only for readers, and each write costs as much as a step, so it can wait.
    if (!this.#isLocal || this.#records.isLong) this.#records.flush(true);
    this.#until = until;
    await this.#takeHeard(await RestatePromise.race(this.#waitedFor(until)), until);
  }

  /** All that may come: mail, the ends of sub-agents, and either an outcome of the work in this process or the time. */
  #waitedFor(until: number | undefined): RestatePromise<Heard>[] {
    const { ctx, children } = this.#place;
    const waits: RestatePromise<Heard>[] = [];
    if (this.#mail !== undefined) waits.push(this.#mail);
    for (const child of children.outstanding)
      waits.push(child.map((came) => ({ what: "child", came: came as ChildCame })));
    if (this.#isLocal) {
      // A step that was interrupted by mail is waited for again: it covers what is in flight now.
      this.#step ??= ctx
        .run(this.#stepName(), () => this.#arrivals(), { serde: stepOutcomeSerde })
        .map((came) => ({ what: "step", came: came as StepOutcome }));
      waits.push(this.#step);
      if (this.#records.live) this.#workplace.wake();
    } else if (until !== undefined)
      waits.push(ctx.sleep(Math.max(0, until - this.#records.now)).map(() => ({ what: "slept" })));
    return waits;
  }

  async #takeHeard(heard: Heard, until: number | undefined): Promise<void> {
    switch (heard.what) {
      case "mail":
        await this.take(heard.mails);
        this.#listen();
        return;
      case "slept":
        this.#records.now = Math.max(this.#records.now, until ?? 0);
        this.#records.append([{ type: "woke" }]);
        return;
      case "child":
        this.#records.now = Math.max(this.#records.now, heard.came.at);
        this.#place.children.done(heard.came.call);
        if (heard.came.lost !== undefined) throw errorOf(heard.came.lost);
        this.#records.append(factsOfChild(await this.#taking.told(heard.came), this.#records.state));
        return;
      case "step":
        this.#step = undefined;
        // Only now does Restate have the outcome.
        this.#workplace.waits = false;
        this.#takeStep(heard.came);
        return;
    }
  }

  #takeStep(came: StepOutcome): void {
    if (this.#took(came).lost || came.lost) return;
    const { facts = [] } = came;
    this.#consumed += facts.length;
    for (const fact of facts) {
      if (fact.type === "hook_answered") this.#asking.delete(askKey(fact));
      else if (fact.type === "output_checked") this.#asking.delete("check_output");
      else if (fact.type === "reconciled") this.#asking.delete(`reconcile:${fact.call}`);
      else if (fact.type === "abort_asked") this.#asking.clear();
      if (!isVoid(fact, this.#records.state)) this.#records.append([timely(fact, this.#records.state)]);
    }
    if (came.woke) this.#records.append([{ type: "woke" }]);
    if (came.write) this.#records.flush(true);
  }

  /** The step's name in Restate's UI. It must be the same in every attempt. */
  #stepName(): string {
    const names = this.#names.splice(0);
    return names.length === 0 ? "wait" : names.join(" ").slice(0, 200);
  }

  /** The step itself: starts what is planned, and waits for the first outcome of all work here. */
  async #arrivals(): Promise<StepOutcome> {
    const clock = this.#clock;
    if (!this.#here()) return { by: this.#workplace.id, at: clock.now(), lost: true };
    this.#records.live = true;
    const writeAt = clock.now() + unwrittenMs;
    for (;;) {
      const workplace = this.#workplace;
      for (const [name, begin] of this.#begun) {
        // Intended calls must be started; nothing else is started by a worker that is closing.
        const gate = name.startsWith("act:") ? undefined : this.#place.gate();
        if (gate !== undefined) await gate;
        workplace.waits = true;
        workplace.begin(name, begin);
      }
      this.#begun.clear();
      const facts = workplace.after(this.#consumed);
      if (facts.length > 0) {
        const clean = facts.map((fact) => cleaned(fact, this.#shell));
        return { by: workplace.id, at: clock.now(), facts: clean };
      }
      const until = this.#until;
      const now = clock.now();
      if (until !== undefined && now >= until) return { by: workplace.id, at: now, woke: true };
      // Readers should not have to wait for the next outcome: records are written, and the wait continues.
      if (this.#records.areUnwritten && now >= writeAt) return { by: workplace.id, at: now, write: true };
      const wakeAt = Math.min(until ?? Infinity, this.#records.areUnwritten ? writeAt : Infinity);
      await workplace.woken(wakeAt, clock);
    }
  }
}
