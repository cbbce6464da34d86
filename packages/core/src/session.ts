// The room of the session: a conversation that outlives its runs, and its process.
//
// A session is its journal. Opening one folds what is there; a run in it is driven; words from outside (steering,
// follow-ups, approvals, aborts) are facts like any other and may come at any time.

import type { Clock } from "./clock.ts";
import { RondoError, toRondoError } from "./errors.ts";
import type { CallView, RondoEvent } from "./events.ts";
import { type FileInput, type Input, readInput, readMessage } from "./input.ts";
import type { Journal } from "./journal.ts";
import { type Logger, logEvent } from "./logger.ts";
import { checkArgs } from "./loop/act.ts";
import { Driver, type Shell } from "./loop/drive.ts";
import { type Approval, type CallKey, formatVersion, type Lane, type LogRecord } from "./loop/records.ts";
import { reduceAll } from "./loop/reduce.ts";
import { emptyState, type State } from "./loop/state.ts";
import type { JsonObject, Message, TextPart } from "./message.ts";
import type { Model } from "./model.ts";
import type { Resolved } from "./options.ts";
import { type Replay, replay } from "./replay.ts";
import { awaitingApproval, type RunResult, resultOf } from "./result.ts";

export type Listener = (event: RondoEvent) => void;

/** `idle`: no run is active. `running`: one is being driven. `parked`: one waits for an approval. `interrupted`: one was left by a process that is gone; `resume` goes on with it. */
export type SessionStatus = "idle" | "running" | "parked" | "interrupted";

export interface SessionParts {
  id: string;
  journal: Journal;
  resolved: Resolved;
  logger?: Logger | undefined;
  about?: JsonObject | undefined;
  gate?: Shell["gate"];
  clock: Clock;
}

export class Session<Output = unknown> {
  readonly id: string;
  readonly #parts: SessionParts;
  readonly #driver: Driver;
  readonly #listeners = new Set<Listener>();
  #driving: Promise<RunResult<Output>> | undefined;
  #optionsTold = false;
  #interrupted: boolean;
  #queued = 0;

  private constructor(parts: SessionParts, state: State) {
    this.id = parts.id;
    this.#parts = parts;
    this.#interrupted = state.run !== undefined && state.run.end === undefined;
    this.#driver = new Driver(this.#shell(), state);
  }

  /** Opens a session: a new one, or one that is in the journal already. */
  static async open<Output>(parts: SessionParts): Promise<Session<Output>> {
    const records = await parts.journal.read(parts.id);
    checkRecords(parts.id, records);
    const state = reduceAll(records, parts.resolved.rules, emptyState);
    const session = new Session<Output>(parts, state);
    if (session.#interrupted) session.#driver.post({ type: "opened", by: "session", ...aboutOf(parts) });
    await session.#driver.settled();
    return session;
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
   * @throws RondoError `invalid_request` while another run is active in this session (steer it, or wait)
   */
  async send(input: Input, options: { signal?: AbortSignal } = {}): Promise<RunResult<Output>> {
    if (this.status !== "idle")
      throw new RondoError(
        "invalid_request",
        `session ${this.id} has a run that is ${this.status}: wait for it or resume() it, steer() it, or queue with followUp()`,
      );
    const start = readInput(input);
    const { options: facts } = this.#parts.resolved;
    this.#driver.post({
      type: "run_started",
      format: formatVersion,
      input: start.input,
      ...(start.history === undefined ? {} : { history: start.history }),
      ...(this.#optionsTold ? {} : { options: facts }),
      ...aboutOf(this.#parts),
    });
    this.#optionsTold = true;
    return this.#drive(options.signal);
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

  /** Lets a call run that waits for it. Resolves when the run next ends or parks. @param call its id or key */
  approve(call: string): Promise<RunResult<Output>> {
    return this.#answer(call, { answer: "approve" });
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
    const tool = this.#parts.resolved.tools.get(view.name);
    if (tool === undefined)
      throw new RondoError("invalid_request", `the tool ${view.name} is not among the agent's tools`);
    return this.#answer(call, { answer: "edit", args, check: await checkArgs(tool, args) });
  }

  /** Ends the run that is active. It settles within `abortGraceMs`; queued messages stay queued. */
  abort(reason: string = "aborted"): void {
    if (this.status === "idle") return;
    this.#driver.post({ type: "abort_asked", reason });
    if (this.#driving === undefined) this.#quietly(this.#drive(undefined));
  }

  /** Resolves when the active run has ended or parked; at once when there is none. */
  async settled(): Promise<void> {
    await this.#driving?.catch(() => {});
    await this.#driver.settled();
  }

  /**
   * A new session that starts from this one's records up to a point.
   * @param at.seq how many records are shared; default: all
   */
  async fork(id: string, at: { seq?: number } = {}): Promise<Session<Output>> {
    await this.settled();
    const records = (await this.#parts.journal.read(this.id)).slice(0, at.seq ?? this.#driver.state.seq);
    await this.#parts.journal.append(id, 0, records);
    return Session.open<Output>({ ...this.#parts, id });
  }

  /** Makes every request of the session again from its records: no model, no tools. Says where the first one differs. */
  async replay(): Promise<Replay> {
    await this.settled();
    return replay(await this.#parts.journal.read(this.id), this.#parts.resolved.rules);
  }

  #queue(lane: Lane, message: string | readonly (TextPart | FileInput)[], id: string | undefined): void {
    this.#queued += 1;
    const own = id ?? `${this.id}/${this.#driver.state.seq}/${this.#queued}`;
    this.#driver.post({ type: "queued", id: own, lane, message: readMessage(message) });
  }

  #find(call: string): CallView {
    const view = this.pending.find((one) => one.id === call || one.key === call);
    if (view !== undefined) return view;
    const waiting = this.pending.map((one) => `${one.id} (${one.name})`).join(", ");
    throw new RondoError(
      "invalid_request",
      `no call ${JSON.stringify(call)} waits for an approval in session ${this.id}; waiting: ${waiting || "none"}`,
    );
  }

  async #answer(call: string, approval: Approval): Promise<RunResult<Output>> {
    const key: CallKey = this.#find(call).key;
    this.#driver.post({ type: "approval_given", call: key, approval });
    return this.#driving ?? this.#drive(undefined);
  }

  #drive(signal: AbortSignal | undefined): Promise<RunResult<Output>> {
    const driving = this.#run(signal).finally(() => {
      this.#driving = undefined;
    });
    this.#driving = driving;
    // Whoever asked gets the rejection; nobody else may be surprised by it.
    this.#quietly(driving);
    return driving;
  }

  async #run(signal: AbortSignal | undefined): Promise<RunResult<Output>> {
    this.#interrupted = false;
    const abort = (): void => this.#driver.post({ type: "abort_asked", reason: reasonText(signal?.reason) });
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    try {
      await this.#driver.run();
      return resultOf<Output>(this.#driver.state, this.id);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  #quietly(promise: Promise<unknown>): void {
    promise.catch(() => {});
  }

  #shell(): Shell {
    const { journal, resolved, logger, gate, clock } = this.#parts;
    return {
      session: this.id,
      journal,
      rules: resolved.rules,
      tools: resolved.tools,
      models: resolved.models,
      hooks: {
        hooks: resolved.hooks,
        tools: resolved.tools,
        modelIndex: (model: Model) => {
          const index = resolved.models.findIndex((one) => one === model || one.id === model.id);
          return index < 0 ? undefined : index;
        },
      },
      checkOutput: resolved.checkOutput,
      sink: (event) => {
        if (logger !== undefined) logEvent(logger, event);
        for (const listener of this.#listeners) listener(event);
      },
      ...(gate === undefined ? {} : { gate }),
      clock,
    };
  }
}

const aboutOf = ({ about }: SessionParts): { about?: JsonObject } => (about === undefined ? {} : { about });

function checkRecords(id: string, records: readonly LogRecord[]): void {
  records.forEach((record, at) => {
    if (record.seq !== at)
      throw new RondoError(
        "protocol",
        `session ${id}: record ${at} has sequence number ${record.seq}; the journal is damaged`,
      );
    if (record.type === "run_started" && record.format > formatVersion)
      throw new RondoError(
        "invalid_request",
        `session ${id} was written by a newer version (journal format ${record.format}, this is ${formatVersion}): update rondo`,
      );
  });
}

function reasonText(reason: unknown): string {
  return typeof reason === "string" ? reason : toRondoError(reason ?? "aborted").message;
}
