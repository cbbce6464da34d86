// The room of the session: a conversation that outlives its runs, and its process.
//
// A session is what its journal says. Opening one folds its records; then runs can be driven in it. Input from outside
// (steering, follow-ups, approvals, aborts) is a fact like any other and may come at any time. This file is the public
// class; its parts are in session/.

import { checkGiven } from "./checks.ts";
import type { ContextAccount } from "./context/window-usage.ts";
import { knownAcrossCopies } from "./copies.ts";
import type { CallView, Listener, RondoEvent } from "./events.ts";
import { type Input, readInput } from "./input.ts";
import { checkSessionId } from "./journal/checks.ts";
import { type FollowOptions, follow } from "./journal/follow.ts";
import { whenThere } from "./journal/maybe-async.ts";
import { RecordReader } from "./journal/migrations.ts";
import { shown } from "./json/copy.ts";
import type { ParentFacts, Spent } from "./loop/child-facts.ts";
import { spentInSession } from "./loop/children.ts";
import { nextOrEnd } from "./loop/driving/next-or-end.ts";
import { type CodeChange, type Fact, formatVersion, type LogRecord } from "./loop/records.ts";
import { accountOf } from "./loop/request/window.ts";
import { isOpen, type Queued, type State } from "./loop/state.ts";
import type { JsonObject, Message } from "./message.ts";
import type { RunResult } from "./result.ts";
import type { Grant, HeldGrant } from "./rules/grants.ts";
import type { Always } from "./session/always-grant.ts";
import { Approvals, type Misfit } from "./session/approvals.ts";
import { demandOwn } from "./session/child-of.ts";
import { checkContinuable } from "./session/continuable.ts";
import { Driving } from "./session/driving.ts";
import { changedBy, type ForkOptions, forkInto } from "./session/fork.ts";
import { KnownState } from "./session/known-state.ts";
import { Listeners } from "./session/listeners.ts";
import { Messages, type Said } from "./session/messages.ts";
import {
  drainOptions,
  listenerArgument,
  sendOptions,
  signalOptions,
  streamArgument,
} from "./session/method-options.ts";
import { hasRun, isAborting } from "./session/open-run.ts";
import { aboutOf, type SessionParts } from "./session/parts.ts";
import { type Replay, replay } from "./session/replay.ts";
import { streamed } from "./session/streamed.ts";
import { type RunStream, runStream } from "./stream.ts";

/** `idle`: no run is active. `running`: this object drives one. `parked`: a run waits for an approval or an answer, requested by this process or another. `interrupted`: a run could continue, and this object does not drive it (its process died, it was drained, a grant now covers the call it waited for, or a message came that skips that call); `resume` continues it, unless another object or process drives it after all. */
export type SessionStatus = "idle" | "running" | "parked" | "interrupted";

export class Session<Output = unknown> {
  readonly id: string;
  readonly #parts: SessionParts;
  readonly #driving: Driving<Output>;
  readonly #approvals: Approvals<Output>;
  readonly #listeners: Listeners;
  readonly #messages: Messages<Output>;

  private constructor(parts: SessionParts, known: KnownState, state: State) {
    this.id = parts.id;
    this.#parts = parts;
    this.#listeners = new Listeners(parts.logger);
    this.#driving = new Driving(parts, known, state, this.#listeners);
    this.#approvals = new Approvals(parts, this.#driving);
    this.#messages = new Messages(parts, this.#driving);
  }

  /** Opens a session: a new one, or one that is in the journal already. */
  static async open<Output>(parts: SessionParts): Promise<Session<Output>> {
    checkSessionId(parts.id);
    const known = new KnownState(parts);
    const session = new Session<Output>(parts, known, await known.readOn(undefined));
    demandOwn(parts, session.state.run);
    await session.#driving.takeOver(parts.takeOver === true, () => {
      demandOwn(parts, session.state.run);
      if (parts.forNewRun === true) throw hasRun(session);
    });
    return session;
  }

  /** What has changed in the code since the run began that this process took over. Empty if nothing has, or if no run was taken over. */
  get changed(): readonly CodeChange[] {
    return this.#driving.changed;
  }

  /**
   * The conversation so far. Always valid: every call in it has its result. The list is a copy; the messages in it
   * are the history itself, frozen.
   */
  get messages(): Message[] {
    return shown(this.state.history);
  }

  get status(): SessionStatus {
    return this.#driving.current !== undefined ? "running" : this.#recorded;
  }

  /** The status according to the records, apart from what is driven here. */
  get #recorded(): SessionStatus {
    if (!isOpen(this.state.run)) return "idle";
    // If only an approval is missing, nothing was interrupted.
    return nextOrEnd(this.state, this.#parts.resolved.rules).do === "park" ? "parked" : "interrupted";
  }

  /** Calls that wait for an approval, or for an answer to the `question` of their tool. */
  get pending(): CallView[] {
    return this.#approvals.pending;
  }

  /** The result of the last run, ended or parked. Undefined before the first. */
  get result(): RunResult<Output> | undefined {
    return this.state.run === undefined ? undefined : this.#driving.result;
  }

  /** What all runs of the session have spent, the active one included. `usd` is absent if it is unknown. */
  get spent(): Spent {
    return spentInSession(this.state);
  }

  /** What fills the context window now, in tokens by source: the provider's last count, and an estimate of what is newer. */
  context(): ContextAccount {
    return accountOf(this.state, this.#parts.resolved.rules);
  }

  /**
   * What has been emitted of the step whose answer is awaited, for whoever comes later: its `step_start`, and one delta for each
   * text, thought and call so far. With `subscribe` at the same moment nothing is missed. Empty: no answer is awaited.
   */
  get arriving(): RondoEvent[] {
    return this.#driving.arriving;
  }

  /** The folded state, for debugging and tests. */
  get state(): State {
    return this.#driving.state;
  }

  /**
   * Calls the listener with every live event from now on. Returns a function that unsubscribes it. A listener that throws, or rejects during a run, ends the run.
   * @throws RondoError `invalid_request` for a listener that is not a function
   */
  subscribe(listener: Listener): () => void {
    checkGiven(listenerArgument, { listener }, "subscribe");
    return this.#listeners.add(listener);
  }

  /**
   * Starts a run and drives it until it ends or parks. Records that others have written since the session was opened are read first.
   * @param input the task: a string, parts (text, files), or a whole history, which replaces the session's
   * @throws RondoError `invalid_request` while another run is active (steer it, or wait), unless it is being aborted: its end
   *   is waited for; `conflict` while another process drives it, or if another writer was faster
   */
  async send(
    input: Input,
    options: {
      signal?: AbortSignal;
      /** The parent of a sub-agent's run. Set by `subAgent`. */
      parent?: ParentFacts;
    } = {},
  ): Promise<RunResult<Output>> {
    const ready = this.status === "idle" ? undefined : this.#ready();
    if (ready !== undefined) await ready;
    this.#demandIdle();
    checkGiven(sendOptions, options, "send");
    const { parent } = options;
    const what = readInput(input);
    return this.#start(parent === undefined ? what : { ...what, parent }, options.signal);
  }

  /**
   * Starts a run without a new message: the model continues from the conversation as it is, after an error or when
   * another agent takes over; or with the queued messages.
   * @throws RondoError `invalid_request` if no message is queued and there is no conversation, or its last message is the model's: use `send`
   */
  async continue(options: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    const ready = this.#ready();
    if (ready !== undefined) await ready;
    this.#demandIdle();
    checkGiven(signalOptions, options, "continue");
    const demandMay = (): void => checkContinuable(this.id, this.state);
    demandMay();
    return this.#start({ input: [] }, options.signal, demandMay);
  }

  /**
   * Compacts the history now, whatever its size: in an idle session as a run of its own, whose text says that it is
   * done; otherwise before the next model call of the active run. Does nothing with `context: { compaction: null }`.
   * Resolves when that run ends or parks.
   */
  async compact(options: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    checkGiven(signalOptions, options, "compact");
    // A run that has just ended can no longer do it.
    if (this.#driving.ending) return this.#driving.afterwards(() => this.compact(options));
    const looking = this.#driving.lookAgain();
    if (looking !== undefined) await looking;
    if (this.status === "idle") return this.#start({ input: [], only: "compaction" }, options.signal);
    return this.#driving.goOn(
      () => ({ type: "mode", mode: "compacting", rule: "asked", evidence: {} }),
      options.signal,
    );
  }

  /**
   * Clears the conversation: the next run starts with an empty history. The records stay in the journal; a short run records that
   * it was cleared, so that every process knows. Queued messages stay queued.
   * @throws RondoError `invalid_request` while a run is active: abort() it first
   */
  async clear(): Promise<void> {
    const ready = this.#ready();
    if (ready !== undefined) await ready;
    this.#demandIdle();
    await this.#start({ input: [], history: [], only: "clearing" }, undefined);
  }

  /**
   * Continues a run that another process left, or that is parked. Resolves at once if the last run has ended.
   * @throws RondoError `invalid_request` in a session without a run; `storage` if this object could not store the run's end
   */
  async resume(options: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    checkGiven(signalOptions, options, "resume");
    const looking = this.status === "idle" ? this.#driving.lookAgain() : undefined;
    if (looking !== undefined) await looking;
    if (this.status !== "idle") return this.#driving.goOn(undefined, options.signal);
    this.#demandIdle();
    return this.#driving.result;
  }

  /**
   * Sends a message to the run: delivered once, before its next model call; after its end, in the next run. Returns before the
   * journal has the message: during a run it is written as soon as the loop gets to it; otherwise `settled()` resolves when it is.
   * @param id default: a new one; a second message with the same id is dropped
   */
  steer(message: Said, id?: string): void {
    this.#messages.queue("steer", message, id);
  }

  /** Queues more work: delivered once, when the run would end; after its end, when the next run would. Written like a message of `steer`. */
  followUp(message: Said, id?: string): void {
    this.#messages.queue("followUp", message, id);
  }

  /**
   * Tells the session something, whatever it is doing: the message starts a run, or goes into the active one. If calls wait for a
   * person, it takes the place of the answer: they are denied, or a question is answered with it.
   * Resolves when the run that reads it has ended or parked; earlier, if the session is drained, the run asks for an approval before it reads it, or another process drives it.
   * @param id default: a new one; a second message with the same id is dropped
   * @throws RondoError `conflict` if the journal did not take the message because another process holds the session
   */
  async tell(message: Said, id?: string): Promise<RunResult<Output>> {
    return this.#messages.tell(this, message, id);
  }

  /** Messages that wait to be delivered, oldest first. */
  get queued(): Queued[] {
    return shown(this.#messages.queued);
  }

  /**
   * Takes back a queued message, whoever sent it. Resolves once the journal has that.
   * @returns whether it was still queued: false if it was delivered or taken back before, or if there is no such message
   */
  async withdraw(id: string): Promise<boolean> {
    return this.#messages.withdraw(id);
  }

  /**
   * Approves a waiting call, so that it runs. Resolves when the run next ends or parks.
   * @param call its id or key
   * @param options.always also make a grant for later calls: `true` for the same tool with the same arguments
   */
  async approve(call: string, options: { always?: Always } = {}): Promise<RunResult<Output>> {
    return this.#approvals.approve(call, options);
  }

  /**
   * Makes a grant: a call that it covers runs without a request for approval. It holds in this session,
   * in every process that opens it, until it expires, is used up or revoked. A parked run continues with `resume`.
   * @param grant.id default: a new one. A second grant with the same id changes nothing
   * @returns the grant, once the journal has it
   * @throws RondoError `invalid_request` saying what is wrong with it
   */
  async allow(grant: Omit<Grant, "id"> & { id?: string }, by?: string): Promise<Grant> {
    return this.#approvals.allow(grant, by);
  }

  /** Revokes a grant. Calls that it has already let run continue. @throws RondoError `invalid_request` for an unknown id */
  async revoke(id: string, by?: string): Promise<void> {
    return this.#approvals.revoke(id, by);
  }

  /** The grants in force, with how often each was used. */
  get grants(): HeldGrant[] {
    return this.#approvals.grants;
  }

  /** Denies a waiting call. The model reads the reason. @param options.stop also end the run. Default: false */
  async deny(call: string, reason?: string, options: { stop?: boolean } = {}): Promise<RunResult<Output>> {
    return this.#approvals.deny(call, reason, options);
  }

  /**
   * Approves a waiting call with other arguments, which are validated like the model's own.
   * @param options.misfit what happens if they do not fit. `refused`: `edit` rejects, and the call still waits. `told`: the model
   *   reads what is wrong as the call's result, as always inside a sub-agent. Default: `refused`
   * @throws RondoError `invalid_request` saying what does not fit
   */
  async edit(call: string, args: JsonObject, options: { misfit?: Misfit } = {}): Promise<RunResult<Output>> {
    return this.#approvals.edit(call, args, options);
  }

  /**
   * Answers the question of a waiting call's tool (`waitForAnswer`), which continues with the answer. Any other waiting call it
   * answers with a result, instead of running it: what a person said, or what was done elsewhere.
   * @param result the answer, as plain JSON; or what `execute` would have returned: a string, outputs, any value, a `toolResult`; an `Error` becomes an error result
   */
  async answer(call: string, result: unknown): Promise<RunResult<Output>> {
    return this.#approvals.answer(call, result);
  }

  /**
   * Calls a function that starts or continues a run of this session, and yields the live events until its promise settles:
   * `session.stream(() => session.approve(id))`. `result` is what it resolves with. Leaving the loop early aborts the run.
   * @throws RondoError `invalid_request` for what is no function
   */
  stream(act: () => Promise<RunResult<Output>>): RunStream<Output> {
    checkGiven(streamArgument, { act }, "stream");
    return runStream<Output>(this.#parts.resolved.options.output?.schema, {
      start: (hear, { signal }) => streamed(this, act, hear, signal),
      rejectsAsItEnds: false,
      context: () => this.context(),
    });
  }

  /**
   * Aborts the active run, whoever started it. It settles within `abortGraceMs`; queued messages stay queued. Never throws: if the
   * abort cannot be recorded (e.g. because another process drives the run), `settled()` or the next operation rejects with the reason.
   */
  abort(reason: string = "aborted"): void {
    this.#driving.abort(reason);
  }

  /**
   * Stops driving at the next safe point and leaves the run open: no model call and no tool starts any more, work in
   * flight may finish. Then `send` resolves with a result without an `end`, the session is `interrupted`, and `resume`
   * continues the run, here or in another process. Resolves with the status; at once if no run is driven.
   * @param options.withinMs milliseconds after which unfinished work is abandoned, as in a crash. Default: 10,000
   */
  async drain(options: { withinMs?: number } = {}): Promise<SessionStatus> {
    checkGiven(drainOptions, options, "drain");
    await this.#driving.drain(options.withinMs ?? 10_000);
    return this.status;
  }

  /** Resolves when the active run has ended or parked, and everything requested meanwhile is done; at once if there is none. Rejects if something that was sent without a run could not be stored. */
  async settled(): Promise<void> {
    await this.#driving.settled();
  }

  /**
   * Makes a new session from this one's first records, under other options if some are given. If it branches in the
   * middle of a run it is `interrupted`: `resume()` continues it. This session is not changed.
   * @throws RondoError `invalid_request` for a point or a call that does not exist, or an id that is taken
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
   * Rebuilds every request of the session from its records, without model and tools. Returns the first one that differs from
   * what was sent and why, and the first one that this agent would send differently.
   */
  async replay(): Promise<Replay> {
    await this.settled();
    const { journal, resolved } = this.#parts;
    return replay(await new RecordReader(journal, this.id).read(), resolved.rules, resolved.options);
  }

  /** Yields the session's records, whoever writes them: the existing ones, then new ones as they are stored. Never ends by itself; rejects with `storage` if they were deleted, moved or replaced. */
  follow(options: FollowOptions = {}): AsyncIterableIterator<LogRecord> {
    return follow(this.#parts.journal, this.id, options);
  }

  /** Reads what others have written, and waits for a run that is being aborted. A promise only if there is something to wait for. */
  #ready(): void | Promise<void> {
    return whenThere(this.#driving.lookAgain(), () =>
      isAborting(this.state, this.#driving.unwritten) ? this.#driving.settled() : undefined,
    );
  }

  #demandIdle(): void {
    // What could not be stored has not happened, and there is no point in waiting for it.
    if (this.#driving.current === undefined && this.#driving.failed !== undefined) throw this.#driving.failed;
    if (this.status !== "idle") throw hasRun(this);
  }

  /** @param demandMay throws if the run may not start, in the session as it is once the lease is taken */
  #start(
    what: Pick<Fact & { type: "run_started" }, "input" | "history" | "only" | "parent">,
    signal: AbortSignal | undefined,
    demandMay: () => void = () => {},
  ): Promise<RunResult<Output>> {
    return this.#driving.begin(() => {
      // Another process may have started one meanwhile.
      if (isOpen(this.state.run)) throw hasRun(this, this.#recorded);
      demandMay();
      const { options } = this.#parts.resolved;
      // They are in the records from the first one on.
      const told = this.#driving.areOptionsRecorded ? {} : { options };
      return { type: "run_started", format: formatVersion, ...what, ...told, ...aboutOf(this.#parts) };
    }, signal);
  }
}

knownAcrossCopies({ Session });
