// The room of the session: a conversation that outlives its runs, and its process.
//
// A session is its journal. Opening one folds what is there; a run in it is driven; words from outside (steering,
// follow-ups, approvals, aborts) are facts like any other and may come at any time.

import type { BlobStore } from "./blobs.ts";
import { changeText, checkTold, newsOf } from "./changes.ts";
import type { Clock } from "./clock.ts";
import type { ContextAccount } from "./context/account.ts";
import { givenBy, type Provided } from "./dependency.ts";
import { RondoError, toRondoError } from "./errors.ts";
import type { CallView, RondoEvent } from "./events.ts";
import { type FollowOptions, follow } from "./follow.ts";
import { changedBy, type ForkOptions, forkInto } from "./fork.ts";
import { type FileInput, type Input, readInput, readMessage } from "./input.ts";
import type { Journal } from "./journal.ts";
import { type Logger, logEvent } from "./logger.ts";
import { checkArgs } from "./loop/act.ts";
import type { ParentFacts, PassedAnswer } from "./loop/children.ts";
import { Driver } from "./loop/drive.ts";
import {
  type Approval,
  type CodeChange,
  type Fact,
  formatVersion,
  type Lane,
  type LogRecord,
} from "./loop/records.ts";
import { reduceAll } from "./loop/reduce.ts";
import { placeOf } from "./loop/same-model.ts";
import type { Shell } from "./loop/shell.ts";
import { emptyState, inFlight, type State } from "./loop/state.ts";
import { accountOf } from "./loop/window.ts";
import type { JsonObject, Message, TextPart } from "./message.ts";
import { RecordReader } from "./migrations.ts";
import type { Model } from "./model.ts";
import type { AgentOptions, Resolved } from "./options.ts";
import { type Replay, replay } from "./replay.ts";
import { awaitingApproval, type RunResult, resultOf } from "./result.ts";
import { type ArgsPattern, checkGrant, type Grant, type HeldGrant, isLive } from "./rules/grants.ts";
import { type LeaseOptions, Writer } from "./writer.ts";

export type Listener = (event: RondoEvent) => void;

/** `idle`: no run is active. `running`: one is being driven. `parked`: one waits for an approval. `interrupted`: one was left by a process that is gone; `resume` goes on with it. */
export type SessionStatus = "idle" | "running" | "parked" | "interrupted";

/** Leave for calls like an approved one. `args`: the same arguments (the default), any, or a pattern. */
export type Always =
  | true
  | (Pick<Grant, "until" | "uses"> & { id?: string; args?: "same" | "any" | ArgsPattern });

export interface SessionParts {
  id: string;
  journal: Journal;
  /** Where the whole texts of cut results are kept. */
  blobs?: BlobStore | undefined;
  resolved: Resolved;
  logger?: Logger | undefined;
  about?: JsonObject | undefined;
  gate?: Shell["gate"];
  clock: Clock;
  /** What is given for the keys of tools in this session, beside the agent's. */
  dependencies?: readonly Provided[] | undefined;
  lease?: LeaseOptions | undefined;
  /** Fence off whoever holds the session. */
  takeOver?: boolean | undefined;
  /** The agent's options with some of them changed, for a fork. */
  resolveWith(change: Partial<AgentOptions>): Resolved;
}

export class Session<Output = unknown> {
  readonly id: string;
  readonly #parts: SessionParts;
  readonly #driver: Driver;
  readonly #writer: Writer;
  readonly #listeners = new Set<Listener>();
  #driving: Promise<RunResult<Output>> | undefined;
  #optionsTold = false;
  /** What was said while the lease was on its way. */
  #early: Fact[] | undefined;
  #interrupted: boolean;
  #queued = 0;
  #granted = 0;
  #changed: readonly CodeChange[] = [];
  /** Nobody could listen when it was opened. */
  #tellsChanges = false;
  /** Ids of grants whose records may be under way still. */
  readonly #given = new Set<string>();

  private constructor(parts: SessionParts, state: State) {
    this.id = parts.id;
    this.#parts = parts;
    this.#interrupted = state.run !== undefined && state.run.end === undefined;
    this.#writer = new Writer(parts.journal, parts.id, parts.lease);
    this.#driver = new Driver(this.#shell(), state);
  }

  /** Opens a session: a new one, or one that is in the journal already. */
  static async open<Output>(parts: SessionParts): Promise<Session<Output>> {
    const records = await new RecordReader(parts.journal, parts.id).read();
    const state = reduceAll(records, parts.resolved.rules, emptyState);
    const session = new Session<Output>(parts, state);
    if (session.#interrupted) await session.#takeOver(parts.takeOver === true);
    return session;
  }

  /** What is not as it was when the run was begun that this process took over. Empty: nothing, or there was none. */
  get changed(): readonly CodeChange[] {
    return this.#changed;
  }

  /** The conversation so far. Valid at any time: every call in it has its result. */
  get messages(): Message[] {
    return [...this.#driver.state.history];
  }

  get status(): SessionStatus {
    if (this.#driving !== undefined) return "running";
    const { run } = this.#driver.state;
    if (run === undefined || run.end !== undefined) return "idle";
    return this.#interrupted ? "interrupted" : "parked";
  }

  /** Calls that wait for an approval. */
  get pending(): CallView[] {
    return awaitingApproval(this.#driver.state);
  }

  /** The result of the last run, ended or parked. Undefined before the first. */
  get result(): RunResult<Output> | undefined {
    return this.#driver.state.run === undefined ? undefined : resultOf<Output>(this.#driver.state, this.id);
  }

  /** What fills the window now, by source, in tokens: what the provider counted, and the estimate of what is new since. */
  context(): ContextAccount {
    return accountOf(this.#driver.state, this.#parts.resolved.rules);
  }

  /** The folded state, for those who look closer. */
  get state(): State {
    return this.#driver.state;
  }

  /** Hears every live event from now on. Returns how to stop. A listener that throws ends the run. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Starts a run and drives it until it ends or parks.
   * @throws RondoError `invalid_request` while another run is active in this session (steer it, or wait); `conflict`
   *   while another process drives it, or when one has written to it since it was opened
   */
  async send(
    input: Input,
    options: {
      signal?: AbortSignal;
      /** Whose sub-agent the run is. Set by `subAgent`. */
      parent?: ParentFacts;
    } = {},
  ): Promise<RunResult<Output>> {
    if (this.status !== "idle")
      throw new RondoError(
        "invalid_request",
        `session ${this.id} has a run that is ${this.status}: wait for it or resume() it, steer() it, or queue with followUp()`,
      );
    const { parent } = options;
    const what = readInput(input);
    return this.#start(parent === undefined ? what : { ...what, parent }, options.signal);
  }

  /**
   * Makes the history smaller now, whatever its size: in an idle session as a run of its own, whose text says that it is
   * done; else before the next model call of the run that is active. Nothing happens with `context: { compaction: null }`.
   * Resolves when that run ends or parks.
   */
  async compact(options: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    if (this.status === "idle") return this.#start({ input: [], only: "compaction" }, options.signal);
    const asked: Fact = { type: "mode", mode: "compacting", rule: "asked", evidence: {} };
    if (this.#driving === undefined) return this.#drive(options.signal, asked);
    this.#post(asked);
    return this.#driving;
  }

  /** Goes on with a run that another process left, or that is parked. Resolves at once when there is none. */
  async resume(options: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    if (this.#driving !== undefined) return this.#driving;
    if (this.status === "idle") return resultOf<Output>(this.#driver.state, this.id);
    return this.#drive(options.signal);
  }

  /** A word while the run works: delivered once, before its next model call. @param id doubles of one id are dropped */
  steer(message: string | readonly (TextPart | FileInput)[], id?: string): void {
    this.#queue("steer", message, id);
  }

  /** More work: delivered once, when the run would end. */
  followUp(message: string | readonly (TextPart | FileInput)[], id?: string): void {
    this.#queue("follow_up", message, id);
  }

  /**
   * Lets a call run that waits for it. Resolves when the run next ends or parks.
   * @param call its id or key
   * @param options.always leave for calls to come as well: `true` for the same tool with the same arguments
   */
  async approve(call: string, { always }: { always?: Always } = {}): Promise<RunResult<Output>> {
    if (always === undefined) return this.#answer(call, { answer: "approve" });
    const { name, args, child } = this.#find(call);
    if (child !== undefined)
      throw new RondoError(
        "invalid_request",
        `the call ${call} stands inside a sub-agent, and leave for calls to come holds in one session: approve it without always`,
      );
    const { args: wanted = "same", ...rest } = always === true ? {} : always;
    const pattern = wanted === "same" ? { exact: args } : wanted === "any" ? undefined : wanted;
    const grant = this.#grant({ ...rest, tool: name, ...(pattern === undefined ? {} : { args: pattern }) });
    return this.#answer(call, { answer: "approve", always: grant });
  }

  /**
   * Gives leave beforehand: a call that asks and is covered runs without anybody being asked. It holds in this session,
   * in every process that opens it, until it expires, is used up or revoked. A parked run goes on by `resume`.
   * @param grant.id default: a new one. One that is known already changes nothing
   * @returns the grant, once the journal has it; while a run is driven it is written at the run's next turn
   * @throws RondoError `invalid_request` saying what is wrong with it
   */
  async allow(grant: Omit<Grant, "id"> & { id?: string }, by?: string): Promise<Grant> {
    const given = this.#grant(grant);
    this.#given.add(given.id);
    this.#post({ type: "allowed", grant: given, ...(by === undefined ? {} : { by }) });
    await this.#driver.settled();
    return given;
  }

  /** Takes leave back that was given. Calls it has let run already go on. @throws RondoError `invalid_request` for an id nobody gave */
  async revoke(id: string, by?: string): Promise<void> {
    if (!this.#given.has(id) && !this.#driver.state.grants.some((one) => one.id === id))
      throw new RondoError(
        "invalid_request",
        `no grant ${JSON.stringify(id)} was given in session ${this.id}`,
      );
    this.#post({ type: "revoked", id, ...(by === undefined ? {} : { by }) });
    await this.#driver.settled();
  }

  /** The leave that was given beforehand and holds now, with how often each was used. */
  get grants(): HeldGrant[] {
    const now = this.#parts.clock.now();
    return this.#driver.state.grants.filter((grant) => isLive(grant, now));
  }

  /** Denies a call that waits. The model reads the reason. @param options.stop end the run as well */
  deny(call: string, reason?: string, options: { stop?: boolean } = {}): Promise<RunResult<Output>> {
    return this.#answer(call, {
      answer: "deny",
      ...(reason === undefined ? {} : { reason }),
      ...(options.stop === undefined ? {} : { stop: options.stop }),
    });
  }

  /** Lets a call run with other arguments; they are checked like the model's own. */
  async edit(call: string, args: JsonObject): Promise<RunResult<Output>> {
    const view = this.#find(call);
    // Inside a sub-agent it is checked there.
    if (view.child !== undefined) return this.#pass(view, { answer: "edit", args });
    const tool = this.#parts.resolved.tools.get(view.name);
    if (tool === undefined)
      throw new RondoError("invalid_request", `the tool ${view.name} is not among the agent's tools`);
    return this.#answer(call, { answer: "edit", args, check: await checkArgs(tool, args) });
  }

  /** Ends the run that is active. It settles within `abortGraceMs`; queued messages stay queued. */
  abort(reason: string = "aborted"): void {
    if (this.status === "idle") return;
    this.#post({ type: "abort_asked", reason });
    if (this.#driving === undefined) this.#quietly(this.#drive(undefined));
  }

  /**
   * Stops driving at the next safe point and leaves the run as it is: no model call and no tool starts any more, what is
   * under way may finish. Then whoever drives gets a result without an `end`, the session is `interrupted`, and `resume`
   * goes on, here or in another process. Resolves with the status; at once when nothing is being driven.
   * @param options.withinMs what has not finished by then is given up, as in a crash. Default: 10,000
   */
  async drain(options: { withinMs?: number } = {}): Promise<SessionStatus> {
    const driving = this.#driving;
    if (driving === undefined) return this.status;
    this.#driver.leave();
    const cancel = this.#parts.clock.after(options.withinMs ?? 10_000, () => this.#driver.leaveNow());
    try {
      await driving.catch(() => {});
    } finally {
      cancel();
    }
    return this.status;
  }

  /** Resolves when the active run has ended or parked; at once when there is none. */
  async settled(): Promise<void> {
    await this.#driving?.catch(() => {});
    await this.#driver.settled();
  }

  /**
   * A new session that starts from this one's records up to a point, under other options if some are given. In the
   * middle of a run it is `interrupted`: `resume()` goes on. This session stays as it is.
   * @throws RondoError `invalid_request` for a point or a call that is not there, or an id that is taken
   */
  async fork(id: string, options: ForkOptions = {}): Promise<Session<Output>> {
    await this.settled();
    const resolved = await forkInto(id, options, { ...this.#parts, from: this.id });
    return Session.open<Output>({
      ...this.#parts,
      id,
      resolved,
      resolveWith: (change) => this.#parts.resolveWith({ ...changedBy(options), ...change }),
      takeOver: false,
    });
  }

  /**
   * Makes every request of the session again from its records: no model, no tools. Says where the first one differs
   * from what was sent and why, and what this agent would send in its place.
   */
  async replay(): Promise<Replay> {
    await this.settled();
    const { journal, resolved } = this.#parts;
    return replay(await new RecordReader(journal, this.id).read(), resolved.rules, resolved.options);
  }

  /** The session's records as they land, whoever writes them: those of before, and those to come. Never ends by itself. */
  follow(options: FollowOptions = {}): AsyncIterableIterator<LogRecord> {
    return follow(this.#parts.journal, this.id, options);
  }

  #start(
    what: Pick<Fact & { type: "run_started" }, "input" | "history" | "only" | "parent">,
    signal: AbortSignal | undefined,
  ): Promise<RunResult<Output>> {
    const { options } = this.#parts.resolved;
    return this.#drive(signal, {
      type: "run_started",
      format: formatVersion,
      ...what,
      ...(this.#optionsTold ? {} : { options }),
      ...aboutOf(this.#parts),
    });
  }

  #grant(grant: Omit<Grant, "id"> & { id?: string }): Grant {
    this.#granted += 1;
    return checkGrant({ id: `grant_${this.#driver.state.seq}_${this.#granted}`, ...grant });
  }

  #queue(lane: Lane, message: string | readonly (TextPart | FileInput)[], id: string | undefined): void {
    this.#queued += 1;
    const own = id ?? `${this.id}/${this.#driver.state.seq}/${this.#queued}`;
    this.#post({ type: "queued", id: own, lane, message: readMessage(message) });
  }

  #find(call: string): CallView {
    const view = this.pending.find((one) => one.id === call || (one.key === call && one.child === undefined));
    if (view !== undefined) return view;
    const waiting = this.pending.map((one) => `${one.id} (${one.name})`).join(", ");
    throw new RondoError(
      "invalid_request",
      `no call ${JSON.stringify(call)} waits for an approval in session ${this.id}; waiting: ${waiting || "none"}`,
    );
  }

  async #answer(call: string, approval: Approval): Promise<RunResult<Output>> {
    const view = this.#find(call);
    if (view.child !== undefined && approval.answer !== "edit") return this.#pass(view, approval);
    return this.#say({ type: "approval_given", call: view.key, approval });
  }

  /** An answer for a call inside a sub-agent: by way of this run, so that it is kept and the sub-agent goes on. */
  #pass({ key, id }: CallView, said: PassedAnswer["said"]): Promise<RunResult<Output>> {
    const under = this.#driver.state.run?.turn?.calls.find((call) => call.key === key);
    const inside = id.slice((under?.id.length ?? 0) + 1);
    return this.#say({ type: "approval_passed", call: key, inside, said });
  }

  async #say(given: Fact): Promise<RunResult<Output>> {
    if (this.#driving === undefined) return this.#drive(undefined, given);
    this.#post(given);
    return this.#driving;
  }

  /** What comes before the lease is there waits for it. */
  #post(fact: Fact): void {
    if (this.#early === undefined) this.#driver.post(fact);
    else this.#early.push(fact);
  }

  /** A process took the session over, and says so. */
  async #takeOver(force: boolean): Promise<void> {
    const news = newsOf(this.id, this.#driver.state.options, this.#parts.resolved);
    this.#changed = news.changed ?? [];
    this.#tellsChanges = this.#changed.length > 0;
    await this.#writer.take(force, () => {});
    try {
      this.#driver.post({ type: "opened", by: "session", ...aboutOf(this.#parts), ...news });
      await this.#driver.settled();
    } finally {
      await this.#writer.release();
    }
  }

  /** Once, and before anything happens under the new code. */
  #tellChanges(): void {
    if (!this.#tellsChanges) return;
    this.#tellsChanges = false;
    const message = `the run goes on under other code than it was begun with: ${this.#changed.map(changeText).join("; ")}`;
    this.#tell({ type: "warning", code: "changed", message });
  }

  #tell(event: RondoEvent): void {
    const { logger } = this.#parts;
    if (logger !== undefined) logEvent(logger, event);
    for (const listener of this.#listeners) listener(event);
  }

  #drive(signal: AbortSignal | undefined, first?: Fact): Promise<RunResult<Output>> {
    const driving = Promise.withResolvers<RunResult<Output>>();
    // From here on, not from the first wait: a listener hears of the run's start before that, and may abort it there.
    this.#driving = driving.promise;
    const run = this.#run(signal, first).finally(() => {
      this.#driving = undefined;
    });
    driving.resolve(run);
    // Whoever asked gets the rejection; nobody else may be surprised by it.
    this.#quietly(driving.promise);
    return driving.promise;
  }

  async #run(signal: AbortSignal | undefined, first: Fact | undefined): Promise<RunResult<Output>> {
    const abort = (): void => this.#driver.post({ type: "abort_asked", reason: reasonText(signal?.reason) });
    try {
      this.#tellChanges();
      const begun = this.#begin(first);
      if (begun !== undefined) await begun;
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort, { once: true });
      if ((await this.#driver.run()) === "left") this.#interrupted = true;
      return resultOf<Output>(this.#driver.state, this.id);
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#driver.stay();
      await this.#writer.release();
    }
  }

  /** Takes the lease, then writes what the drive begins with, and what was said meanwhile. */
  #begin(first: Fact | undefined): undefined | Promise<void> {
    const begin = (): void => {
      const early = this.#early ?? [];
      this.#early = undefined;
      const { run } = this.#driver.state;
      // What was given up when this session was left is lost, and that is a fact.
      if (run !== undefined && run.end === undefined && inFlight(run))
        this.#driver.post({ type: "opened", by: "session", ...aboutOf(this.#parts) });
      for (const fact of first === undefined ? early : [first, ...early]) this.#driver.post(fact);
      if (first?.type === "run_started") this.#optionsTold = true;
      this.#interrupted = false;
    };
    const refused = (thrown: unknown): never => {
      this.#early = undefined;
      throw thrown;
    };
    // Whoever has it now refuses our next group, and that ends the run here; what is in flight is stopped at once.
    const lost = (error: RondoError): void =>
      this.#driver.post({ type: "abort_asked", reason: error.message, error: error.toJSON() });
    const taking = this.#writer.take(false, lost, first === undefined ? this.#driver.state.seq : undefined);
    if (taking === undefined) return void begin();
    this.#early = [];
    return taking.then(begin, refused);
  }

  #quietly(promise: Promise<unknown>): void {
    promise.catch(() => {});
  }

  #shell(): Shell {
    const { blobs, resolved, gate, clock, dependencies } = this.#parts;
    return {
      session: this.id,
      journal: this.#writer,
      journalOfChildren: this.#parts.journal,
      blobs,
      redact: resolved.redact,
      rules: resolved.rules,
      tools: resolved.tools,
      models: resolved.models,
      compactor: resolved.compactor,
      hooks: {
        hooks: resolved.hooks,
        tools: resolved.tools,
        modelIndex: (model: Model) => {
          const own = this.#driver.state.options?.models ?? [];
          const index = placeOf(own, model, resolved.models.indexOf(model));
          return index < 0 ? undefined : index;
        },
      },
      checkOutput: (text) => checkTold(text, this.#driver.state.options, resolved),
      sink: (event) => this.#tell(event),
      ...(gate === undefined ? {} : { gate }),
      clock,
      given: givenBy(resolved.dependencies, dependencies),
      maskToolErrors: resolved.maskToolErrors,
    };
  }
}

const aboutOf = ({ about }: SessionParts): { about?: JsonObject } => (about === undefined ? {} : { about });

function reasonText(reason: unknown): string {
  return typeof reason === "string" ? reason : toRondoError(reason ?? "aborted").message;
}
