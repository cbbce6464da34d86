// The room of the session: a conversation that outlives its runs, and its process.
//
// A session is its journal. Opening one folds what is there; a run in it is driven; words from outside (steering,
// follow-ups, approvals, aborts) are facts like any other and may come at any time. This is the face of it; the rooms
// behind it are in session/.

import { runWords } from "./checks/other-words.ts";
import { abortSignal } from "./checks/ready-made.ts";
import { anything, callable, checkGiven, flag, from0, membersOf, oneOf, text } from "./checks.ts";
import type { ContextAccount } from "./context/account.ts";
import { knownAcrossCopies } from "./copies.ts";
import { invalidRequest, type RondoError } from "./errors.ts";
import type { CallView, Listener } from "./events.ts";
import { type FileInput, type Input, readInput, readMessage } from "./input.ts";
import { checkSessionId } from "./journal/checks.ts";
import { type FollowOptions, follow } from "./journal/follow.ts";
import { RecordReader } from "./journal/migrations.ts";
import { shown } from "./json/copy.ts";
import type { ParentFacts } from "./loop/child-facts.ts";
import { nextOrEnd } from "./loop/driving/next-or-end.ts";
import { type CodeChange, type Fact, formatVersion, type Lane, type LogRecord } from "./loop/records.ts";
import { accountOf } from "./loop/request/window.ts";
import { isOpen, type Queued, type State } from "./loop/state.ts";
import type { JsonObject, Message, TextPart } from "./message.ts";
import type { RunResult } from "./result.ts";
import type { Grant, HeldGrant } from "./rules/grants.ts";
import { type Always, alwaysIn } from "./session/always.ts";
import { Approvals, type Misfit } from "./session/approvals.ts";
import { Driving } from "./session/driving.ts";
import { changedBy, type ForkOptions, forkInto } from "./session/fork.ts";
import { checkGoesOn } from "./session/going-on.ts";
import { Known } from "./session/known.ts";
import { Listeners } from "./session/listeners.ts";
import { aboutOf, namesOf, type SessionParts } from "./session/parts.ts";
import { type Replay, replay } from "./session/replay.ts";
import { waitingWords } from "./session/waiting-words.ts";

/** `idle`: no run is active. `running`: one is being driven here. `parked`: one waits for an approval, asked for by this process or another. `interrupted`: nobody drives one that could go on (its process is gone, it was drained, leave was given for what it waited for, or a word was said that skips that); `resume` goes on with it. */
export type SessionStatus = "idle" | "running" | "parked" | "interrupted";

const denial = membersOf<{ reason?: string; stop?: boolean }>({ reason: text, stop: flag });
const editing = membersOf<{ misfit?: Misfit }>({ misfit: oneOf("refused", "told") });
const sending = membersOf<{ signal?: AbortSignal; parent?: ParentFacts }>(
  { signal: abortSignal, parent: anything },
  [],
  runWords,
);
const going = membersOf<{ signal?: AbortSignal }>({ signal: abortSignal }, [], runWords);
const draining = membersOf<{ withinMs?: number }>({ withinMs: from0 });
const heard = membersOf<{ listener: Listener }>({ listener: callable }, ["listener"]);
const queuedId = membersOf<{ id?: string }>({ id: text });
const withdrawal = membersOf<{ id: string }>({ id: text }, ["id"]);

export class Session<Output = unknown> {
  readonly id: string;
  readonly #parts: SessionParts;
  readonly #driving: Driving<Output>;
  readonly #approvals: Approvals<Output>;
  readonly #listeners: Listeners;
  readonly #nextName: ReturnType<typeof namesOf>;

  private constructor(parts: SessionParts, known: Known, state: State) {
    this.id = parts.id;
    this.#parts = parts;
    this.#nextName = namesOf(parts);
    this.#listeners = new Listeners(parts.logger);
    this.#driving = new Driving(parts, known, state, this.#listeners);
    this.#approvals = new Approvals(parts, this.#driving);
  }

  /** Opens a session: a new one, or one that is in the journal already. */
  static async open<Output>(parts: SessionParts): Promise<Session<Output>> {
    checkSessionId(parts.id);
    const known = new Known(parts);
    const session = new Session<Output>(parts, known, await known.readOn(undefined));
    await session.#driving.takeOver(parts.takeOver === true, () => {
      if (parts.forNewRun === true) throw session.#hasRun();
    });
    return session;
  }

  /** What is not as it was when the run was begun that this process took over. Empty: nothing, or there was none. */
  get changed(): readonly CodeChange[] {
    return this.#driving.changed;
  }

  /**
   * The conversation so far. Valid at any time: every call in it has its result. The list is a copy; the messages in it
   * are the history itself, and frozen.
   */
  get messages(): Message[] {
    return shown(this.state.history);
  }

  get status(): SessionStatus {
    return this.#driving.current !== undefined ? "running" : this.#left;
  }

  /** Its status where nobody drives it here. */
  get #left(): SessionStatus {
    if (!isOpen(this.state.run)) return "idle";
    // Where an approval is all that is missing, nothing of it was cut off.
    return nextOrEnd(this.state, this.#parts.resolved.rules).do === "park" ? "parked" : "interrupted";
  }

  /** Calls that wait for an approval. */
  get pending(): CallView[] {
    return this.#approvals.pending;
  }

  /** The result of the last run, ended or parked. Undefined before the first. */
  get result(): RunResult<Output> | undefined {
    return this.state.run === undefined ? undefined : this.#driving.result;
  }

  /** What fills the window now, by source, in tokens: what the provider counted, and the estimate of what is new since. */
  context(): ContextAccount {
    return accountOf(this.state, this.#parts.resolved.rules);
  }

  /** The folded state, for those who look closer. */
  get state(): State {
    return this.#driving.state;
  }

  /**
   * Hears every live event from now on. Returns how to stop. A listener that throws, or rejects while the run is driven, ends the run.
   * @throws RondoError `invalid_request` for a listener that is no function
   */
  subscribe(listener: Listener): () => void {
    checkGiven(heard, { listener }, "subscribe");
    return this.#listeners.add(listener);
  }

  /**
   * Starts a run and drives it until it ends or parks.
   * @throws RondoError `invalid_request` while another run is active in this session (steer it, or wait); `conflict`
   *   while another process drives it, or was faster. What others have written since it was opened is read first
   */
  async send(
    input: Input,
    options: {
      signal?: AbortSignal;
      /** Whose sub-agent the run is. Set by `subAgent`. */
      parent?: ParentFacts;
    } = {},
  ): Promise<RunResult<Output>> {
    const looking = this.status === "idle" ? undefined : this.#driving.lookAgain();
    if (looking !== undefined) await looking;
    this.#mayStart();
    checkGiven(sending, options, "send");
    const { parent } = options;
    const what = readInput(input);
    return this.#start(parent === undefined ? what : { ...what, parent }, options.signal);
  }

  /**
   * Starts a run without a new word: the model goes on from the conversation as it stands, after an error, or where
   * another agent takes it over.
   * @throws RondoError `invalid_request` where nobody steered and there is none, or its last word is the model's: `send` it a word
   */
  async continue(options: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    const looking = this.#driving.lookAgain();
    if (looking !== undefined) await looking;
    this.#mayStart();
    checkGiven(going, options, "continue");
    const goesOn = (): void => checkGoesOn(this.id, this.state);
    goesOn();
    return this.#start({ input: [] }, options.signal, goesOn);
  }

  /**
   * Makes the history smaller now, whatever its size: in an idle session as a run of its own, whose text says that it is
   * done; else before the next model call of the run that is active. Nothing happens with `context: { compaction: null }`.
   * Resolves when that run ends or parks.
   */
  async compact(options: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    checkGiven(going, options, "compact");
    // A run that has just ended is no longer one to do it in.
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
   * Forgets the conversation: the next run begins with nothing. What was said stays in the journal, and a run of its own says that
   * it was cleared, so that every process knows. Words that wait stay.
   * @throws RondoError `invalid_request` while a run is active: abort() it first
   */
  async clear(): Promise<void> {
    const looking = this.#driving.lookAgain();
    if (looking !== undefined) await looking;
    this.#mayStart();
    await this.#start({ input: [], history: [], only: "clearing" }, undefined);
  }

  /**
   * Goes on with a run that another process left, or that is parked. Resolves at once when the last one has ended.
   * @throws RondoError `invalid_request` in a session that has had no run
   */
  async resume(options: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    checkGiven(going, options, "resume");
    const looking = this.status === "idle" ? this.#driving.lookAgain() : undefined;
    if (looking !== undefined) await looking;
    if (this.status === "idle") return this.#driving.result;
    return this.#driving.goOn(undefined, options.signal);
  }

  /** A word while the run works: delivered once, before its next model call; after its end, in the next run. @param id doubles of one id are dropped */
  steer(message: string | readonly (TextPart | FileInput)[], id?: string): void {
    this.#queue("steer", message, id);
  }

  /** More work: delivered once, when the run would end; after its end, when the next would. */
  followUp(message: string | readonly (TextPart | FileInput)[], id?: string): void {
    this.#queue("follow_up", message, id);
  }

  /** Words that wait to be delivered, the oldest first. */
  get queued(): Queued[] {
    return shown(waitingWords(this.state, this.#driving.unwritten));
  }

  /**
   * Takes a word back that waits, whoever said it. While a run is driven that is written at the run's next turn.
   * @returns whether it did: false for one that was delivered, or taken back, or that nobody said
   */
  async withdraw(id: string): Promise<boolean> {
    checkGiven(withdrawal, { id }, "withdraw");
    const looking = this.#driving.lookAgain();
    if (looking !== undefined) await looking;
    if (!this.queued.some((one) => one.id === id)) return false;
    this.#driving.post({ type: "withdrawn", id });
    await this.#driving.written();
    return true;
  }

  /**
   * Lets a call run that waits for it. Resolves when the run next ends or parks.
   * @param call its id or key
   * @param options.always leave for calls to come as well: `true` for the same tool with the same arguments
   */
  async approve(call: string, options: { always?: Always } = {}): Promise<RunResult<Output>> {
    return this.#approvals.approve(call, alwaysIn(options));
  }

  /**
   * Gives leave beforehand: a call that asks and is covered runs without anybody being asked. It holds in this session,
   * in every process that opens it, until it expires, is used up or revoked. A parked run goes on by `resume`.
   * @param grant.id default: a new one. One that is known already changes nothing
   * @returns the grant, once the journal has it; while a run is driven it is written at the run's next turn
   * @throws RondoError `invalid_request` saying what is wrong with it
   */
  async allow(grant: Omit<Grant, "id"> & { id?: string }, by?: string): Promise<Grant> {
    return this.#approvals.allow(grant, by);
  }

  /** Takes leave back that was given. Calls it has let run already go on. @throws RondoError `invalid_request` for an id nobody gave */
  async revoke(id: string, by?: string): Promise<void> {
    return this.#approvals.revoke(id, by);
  }

  /** The leave that was given beforehand and holds now, with how often each was used. */
  get grants(): HeldGrant[] {
    return this.#approvals.grants;
  }

  /** Denies a call that waits. The model reads the reason. @param options.stop end the run as well */
  async deny(call: string, reason?: string, options: { stop?: boolean } = {}): Promise<RunResult<Output>> {
    checkGiven(denial, { ...options, ...(reason === undefined ? {} : { reason }) }, "deny");
    return this.#approvals.answer(call, {
      answer: "deny",
      ...(reason === undefined ? {} : { reason }),
      ...(options.stop === undefined ? {} : { stop: options.stop }),
    });
  }

  /**
   * Lets a call run with other arguments; they are checked like the model's own.
   * @param options.misfit what becomes of those that do not fit: `refused`, and the call still waits; or `told` to the model, as
   *   the call's result, which is always so inside a sub-agent. Default: `refused`
   * @throws RondoError `invalid_request` saying what does not fit
   */
  async edit(call: string, args: JsonObject, options: { misfit?: Misfit } = {}): Promise<RunResult<Output>> {
    checkGiven(editing, options, "edit");
    return this.#approvals.edit(call, args, options.misfit ?? "refused");
  }

  /**
   * Answers a call that waits with its result, and does not run it: what a person said, or what was done elsewhere.
   * @param result what `execute` would have returned: a text, outputs, any value, a `toolResult`; an `Error` is told as one
   */
  async answer(call: string, result: unknown): Promise<RunResult<Output>> {
    return this.#approvals.bring(call, result);
  }

  /**
   * Ends the run that is active, whoever began it. It settles within `abortGraceMs`; queued messages stay queued. Never throws:
   * where it could not be kept (another process drives the run, say), `settled()` rejects with why, or whatever is done next.
   */
  abort(reason: string = "aborted"): void {
    this.#driving.abort(reason);
  }

  /**
   * Stops driving at the next safe point and leaves the run as it is: no model call and no tool starts any more, what is
   * under way may finish. Then whoever drives gets a result without an `end`, the session is `interrupted`, and `resume`
   * goes on, here or in another process. Resolves with the status; at once when nothing is being driven.
   * @param options.withinMs what has not finished by then is given up, as in a crash. Default: 10,000
   */
  async drain(options: { withinMs?: number } = {}): Promise<SessionStatus> {
    checkGiven(draining, options, "drain");
    await this.#driving.drain(options.withinMs ?? 10_000);
    return this.status;
  }

  /** Resolves when the active run has ended or parked, and what was asked for meanwhile is done; at once when nothing is. Rejects with why something could not be kept that was said while nobody drove it here. */
  async settled(): Promise<void> {
    await this.#driving.settled();
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

  /** The session's records as they land, whoever writes them: those of before, and those to come. Never ends by itself; it rejects with `storage` where they were deleted, moved or replaced. */
  follow(options: FollowOptions = {}): AsyncIterableIterator<LogRecord> {
    return follow(this.#parts.journal, this.id, options);
  }

  #mayStart(): void {
    // A run that could not be kept is none to wait for.
    if (this.#driving.current === undefined && this.#driving.failed !== undefined) throw this.#driving.failed;
    if (this.status !== "idle") throw this.#hasRun();
  }

  #hasRun(status: SessionStatus = this.status): RondoError {
    const { pending } = this;
    const calls = pending.map(({ id, name }) => `${id} (${name})`).join(", ");
    const what =
      status === "parked" && calls !== ""
        ? `approve(), deny() or edit() what it waits for: ${calls}; or abort() it`
        : "wait for it or resume() it, steer() it, or queue with followUp()";
    return invalidRequest(`session ${this.id} has a run that is ${status}: ${what}`);
  }

  #start(
    what: Pick<Fact & { type: "run_started" }, "input" | "history" | "only" | "parent">,
    signal: AbortSignal | undefined,
    mayBe: () => void = () => {},
  ): Promise<RunResult<Output>> {
    return this.#driving.begin(() => {
      // Another may have begun one meanwhile.
      if (isOpen(this.state.run)) throw this.#hasRun(this.#left);
      mayBe();
      const { options } = this.#parts.resolved;
      // They stand in the records from the first on.
      const told = this.#driving.areOptionsTold ? {} : { options };
      return { type: "run_started", format: formatVersion, ...what, ...told, ...aboutOf(this.#parts) };
    }, signal);
  }

  #queue(lane: Lane, message: string | readonly (TextPart | FileInput)[], id: string | undefined): void {
    checkGiven(queuedId, { id }, lane === "steer" ? "steer" : "followUp");
    const own = id ?? `${this.id}/${this.#nextName(this.state)}`;
    this.#driving.post({ type: "queued", id: own, lane, message: readMessage(message) });
  }
}

knownAcrossCopies({ Session });
