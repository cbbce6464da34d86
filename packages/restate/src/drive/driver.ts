// The room of the driver: a run of a session, driven inside an invocation.
//
// The same loop as core's driver: fold, ask `next`, perform, append. Whatever comes from the world (the time, an answer,
// a result, who works on it) comes out of a step that Restate journals; all else is computed again when the invocation
// is gone through again, and comes out the same. So the facts of a run stand in Restate's journal the moment they
// happen, and in the session's state soon after, a group at a time.
//
// A step is one wait for whatever comes first of all that is at work. The intent of calls is a step of its own, before
// them. Each step says which workplace it ran in: where that is another than before, what was in flight is lost, and
// `opened` says so, as after any crash; which calls may start again is decided where it always is.

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

/** How long records of a run that waits are kept from readers, in milliseconds. */
const unwrittenMs = 500;

export class RestateDriver {
  readonly #place: DriverPlace;
  readonly #shell: Shell;
  /** A worker whose clock is behind the last one's waits no longer for it. */
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
  /** What was begun, and is really begun by the step that waits for it. */
  readonly #begun = new Map<string, () => void>();
  /** What was begun since the last step, by its name. */
  readonly #names: string[] = [];
  /** Questions that are being asked. */
  readonly #asking = new Set<string>();
  #step: RestatePromise<Heard> | undefined;
  #mail: RestatePromise<Heard> | undefined;
  #until: number | undefined;

  /** @param asked the session as it was when the model was last asked */
  constructor(place: DriverPlace, state: State, taken: Taken, asked: State | undefined) {
    const { ctx, parts, workplaces } = place;
    this.#place = place;
    this.#taken = taken;
    this.#invocation = ctx.request().id;
    this.#clock = new SteadyClock(parts.clock, () => Math.max(this.#records.now, this.#records.state.now));
    this.#shell = shellOf({ ...parts, clock: this.#clock }, { append: () => {} }, () => this.#records.state);
    // Until this attempt knows all that happened, the state is of before: nothing must be given up by it.
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

  /** Writes what was appended to the session's state. @param driven whether somebody still drives */
  flush(driven: boolean): void {
    this.#records.flush(driven);
  }

  /** The first step: where and when it begins, and what else is to be known before. */
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

  /** Appends what the drive begins with. */
  begin(facts: readonly Fact[]): void {
    this.#records.append(facts);
  }

  /** Takes what was said, before or while it is driven. What is known, or says nothing any more, is passed over. */
  async take(mails: readonly Mail[]): Promise<void> {
    for (const { n, at, say } of mails) {
      // What has no number was handed over by the one who drives.
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

  /** Drives until the run has ended or waits for somebody outside. */
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
        // Somebody cancelled the invocation at the server: that is an abort like any other, and settles like one.
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

  /** Remembers what is to begin; the name is the same whenever the invocation is gone through. */
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
    // What else was at work is gone: what is to be done now is another question.
    if (lost) return;
    this.#records.append(toolsStarted(action, parts.id));
    for (const key of action.calls) {
      const call = this.#records.state.run?.turn?.calls.find((one) => one.key === key);
      if (call?.child !== undefined) children.start(call, this.#records.state);
      else this.#begin(`act:${key}`, () => this.#workplace.ongoing.act(key));
    }
  }

  /** Says where the calls that are to start will be at work. */
  async #intend(): Promise<StepOutcome> {
    const gate = this.#place.gate();
    if (gate !== undefined) await gate;
    this.#here();
    this.#records.live = true;
    return { by: this.#workplace.id, at: this.#clock.now() };
  }

  /** Whether what is in flight is at work here. If others have worked on it since, this becomes a new workplace. */
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

  /** Takes note of where a step ran. `lost`: what was in flight elsewhere is. */
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

  /** Whether something is at work in a process. */
  get #isLocal(): boolean {
    const { state } = this.#records;
    if (state.run === undefined) return false;
    return this.#asking.size > 0 || isThinking(state.run) || toolsAreAtWork(state);
  }

  /** Waits for whatever comes first, and takes it. A wait that ran out is a fact. */
  async #wait(until: number | undefined): Promise<void> {
    const { ctx, children } = this.#place;
    // Restate has the facts already: the state is written for readers, and each group costs as much as a step.
    if (!this.#isLocal || this.#records.isLong) this.#records.flush(true);
    this.#until = until;
    const waits: RestatePromise<Heard>[] = [];
    if (this.#mail !== undefined) waits.push(this.#mail);
    for (const child of children.outstanding)
      waits.push(child.map((came) => ({ what: "child", came: came as ChildCame })));
    if (this.#isLocal) {
      // One that was cut short by mail waits on, for what is at work now.
      this.#step ??= ctx
        .run(this.#stepName(), () => this.#arrivals(), { serde: stepOutcomeSerde })
        .map((came) => ({ what: "step", came: came as StepOutcome }));
      waits.push(this.#step);
      if (this.#records.live) this.#workplace.wake();
    } else if (until !== undefined)
      waits.push(ctx.sleep(Math.max(0, until - this.#records.now)).map(() => ({ what: "slept" })));
    const heard = await RestatePromise.race(waits);
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
        children.done(heard.came.call);
        if (heard.came.lost !== undefined) throw errorOf(heard.came.lost);
        this.#records.append(factsOfChild(await this.#taking.told(heard.came), this.#records.state));
        return;
      case "step":
        this.#step = undefined;
        // Only now does anybody else know what came of it.
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

  /** What the step waits for, for whoever looks at the invocation. It must be the same in every attempt. */
  #stepName(): string {
    const names = this.#names.splice(0);
    return names.length === 0 ? "wait" : names.join(" ").slice(0, 200);
  }

  /** The step itself: begins what is to begin, and waits for the first of all that is at work here. */
  async #arrivals(): Promise<StepOutcome> {
    const clock = this.#clock;
    if (!this.#here()) return { by: this.#workplace.id, at: clock.now(), lost: true };
    this.#records.live = true;
    const writeAt = clock.now() + unwrittenMs;
    for (;;) {
      const workplace = this.#workplace;
      for (const [name, begin] of this.#begun) {
        // What was intended is done; nothing else is begun by a worker that leaves.
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
      // Whoever reads the session is not to wait for this: it is written, and the wait goes on.
      if (this.#records.areUnwritten && now >= writeAt) return { by: workplace.id, at: now, write: true };
      const wakeAt = Math.min(until ?? Infinity, this.#records.areUnwritten ? writeAt : Infinity);
      await workplace.woken(wakeAt, clock);
    }
  }
}
