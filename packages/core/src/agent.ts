// The room of the agent: the object that users create.
//
// An agent is its options. It holds no conversation; sessions do. `run`, `stream` and `steps` each open a session
// and drive one run in it; `open` returns the session itself.

import { CheckedClock, type Clock, chanceIn, systemClock } from "./clock.ts";
import { knownAcrossCopies } from "./copies.ts";
import { errorFrom, RondoError } from "./errors.ts";
import type { Listener, RondoEvent } from "./events.ts";
import type { Input } from "./input.ts";
import { type BlobStore, memoryBlobs } from "./journal/blobs.ts";
import { checkSessionId } from "./journal/checks.ts";
import { type FollowOptions, follow } from "./journal/follow.ts";
import { type MemoryJournal, memoryJournal } from "./journal/memory.ts";
import type { Journal } from "./journal.ts";
import type { Logger } from "./logger.ts";
import type { Shell } from "./loop/driving/shell.ts";
import type { LogRecord } from "./loop/records.ts";
import type { JsonObject } from "./message.ts";
import { type AgentOptions, checkOverrides, type RunOverrides } from "./options/agent-options.ts";
import { type Resolved, resolve } from "./options/options.ts";
import type { RunResult } from "./result.ts";
import { endChild } from "./session/end-child.ts";
import { type ForkOptions, forkInto } from "./session/fork.ts";
import { Session } from "./session.ts";
import { finalStep, type StepEvent, StepView } from "./steps.ts";
import { EventQueue, joinDeltas, once, PartialOutputs, type RunStream, textsOf } from "./stream.ts";
import type { ChildPlace, Tool } from "./tool.ts";

/** Steps, pulled one by one. `result` is what `run` would have resolved with; if that rejects (except for an abort), so does the pull. */
export interface StepStream<Output = unknown> extends AsyncIterable<StepEvent<Output>> {
  readonly result: Promise<RunResult<Output>>;
  /** Cancels the run. Steps that were not pulled are dropped, and the iteration ends. */
  abort(reason?: string): void;
}

/** An agent as another driver sees it. `blobs`: `null` if whole texts are not kept, absent if the driver may choose. */
export interface AgentParts {
  resolved: Resolved;
  clock: Clock;
  logger?: Logger;
  about?: JsonObject;
  blobs?: BlobStore | null;
}

export class Agent<Output = unknown> {
  // Without the type of its output: an agent of a typed output is an agent of any.
  readonly #given: AgentOptions;
  readonly #resolved: Resolved;
  readonly #journal: Journal;
  readonly #clock: Clock;
  /** Memory journals of parked runs of an agent without a journal, by session: the newest `mostParked`. */
  readonly #parked = new Map<string, MemoryJournal>();
  readonly #passing = new WeakMap<Session<Output>, MemoryJournal>();
  /** Used when the journal keeps no blobs. */
  readonly #blobs: BlobStore = memoryBlobs();

  /** @throws RondoError `invalid_request` naming the option that cannot be used */
  constructor(options: AgentOptions<Output>) {
    checkRuntime();
    this.#given = options as AgentOptions;
    this.#resolved = resolve(this.#given);
    this.#journal = options.journal ?? memoryJournal();
    this.#clock = options.clock === undefined ? systemClock : new CheckedClock(options.clock);
  }

  /**
   * Runs a task until the run ends or parks (waits for an approval).
   * @throws RondoError `aborted` when the signal fired or somebody aborted it; the run's error with `throwOnError`; `invalid_request` for an
   *   invalid task. A failed model is not an exception: see `end.reason`.
   */
  async run(input: Input, overrides: RunOverrides = {}): Promise<RunResult<Output>> {
    const session = await this.#open(overrides, undefined, true);
    if (overrides.onEvent !== undefined) session.subscribe(overrides.onEvent);
    return this.#outcome(session, input, overrides, overrides.signal);
  }

  /** Runs a task and yields its live events. Leaving the loop early aborts the run. */
  stream(input: Input, overrides: RunOverrides = {}): RunStream<Output> {
    const controller = new AbortController();
    const queue = new EventQueue<RondoEvent>(() => controller.abort("the reader broke off"), joinDeltas);
    const read = once(queue);
    const partial = new PartialOutputs<Output>(this.#resolved.options.output?.schema);
    let told = false;
    let session: Session<Output> | undefined;
    const opened = (one: Session<Output>): Listener => {
      session = one;
      return (event) => {
        // Events that follow, such as those of a tool that was left behind, do not change that.
        told ||= event.type === "run_end";
        partial.hear(event);
        queue.push(event);
      };
    };
    const result = this.#start(input, overrides, controller, undefined, opened);
    result.finally(() => partial.end()).catch(() => {});
    result.then(
      () => queue.end(),
      // A run that said how it ended has said it; one that could not is an error of the stream as well.
      (thrown: unknown) => (told ? queue.end() : queue.fail(thrown)),
    );
    return {
      result,
      textStream: textsOf(read),
      partialOutput: partial,
      context: () => session?.context(),
      abort: (reason) => controller.abort(reason),
      [Symbol.asyncIterator]: read,
    };
  }

  /** Runs a task one step event a pull. The model is not asked again before all of its last answer was pulled. */
  steps(input: Input, overrides: RunOverrides = {}): StepStream<Output> {
    const controller = new AbortController();
    const gate = {
      pass: (): boolean => {
        // Reasoning is a step as well: it is pulled before the model is asked again.
        view.asking();
        return queue.wanted && queue.length === 0;
      },
      open: undefined as (() => void) | undefined,
    };
    const queue = new EventQueue<StepEvent<Output>>(() => controller.abort("the reader broke off"));
    const view = new StepView((event) => queue.push(event as StepEvent<Output>));
    const result = this.#start(input, overrides, controller, gate, () => (event) => view.hear(event));
    // After a cancel no step is wanted, nor those that wait to be pulled.
    controller.signal.addEventListener("abort", () => void queue.return(), { once: true });
    result.then(
      (came) => queue.end(finalStep(came)),
      (thrown: unknown) => (controller.signal.aborted ? queue.end() : queue.fail(thrown)),
    );
    const pulled: AsyncIterator<StepEvent<Output>> = {
      next: () => {
        const item = queue.next();
        gate.open?.();
        return item;
      },
      return: () => queue.return(),
    };
    return {
      result,
      abort: (reason) => controller.abort(reason),
      [Symbol.asyncIterator]: once(pulled),
    };
  }

  /**
   * Opens a session: a new one, or one that the journal holds already.
   * @param options.takeOver fence off the present driver, which can then write nothing any more. Default: false
   * @throws RondoError `conflict` naming who drives it and until when: wait, `follow` it, or take it over;
   *   `invalid_request` for an id that no journal can keep
   */
  async open(
    id: string,
    options: Pick<RunOverrides, "journal" | "dependencies" | "tools" | "toolChoice"> & {
      takeOver?: boolean;
    } = {},
  ): Promise<Session<Output>> {
    checkSessionId(id);
    return this.#open({ ...options, session: id }, undefined, false);
  }

  /** What the agent is made of, for a driver other than `Session`. */
  get parts(): AgentParts {
    const { logger, about, blobs } = this.#given;
    return {
      resolved: this.#resolved,
      clock: this.#clock,
      ...(logger === undefined ? {} : { logger }),
      ...(about === undefined ? {} : { about }),
      ...(blobs === undefined ? {} : { blobs }),
    };
  }

  /**
   * Opens the session of a sub-agent; the driver of its parent owns it. For `subAgent`.
   * @throws OthersSession where somebody else has a run in it, which stays as it is
   */
  openChild({
    session,
    parent,
    journal,
    blobs,
    clock,
    graceMs,
    passedOn,
  }: ChildPlace): Promise<Session<Output>> {
    const { options, dependencies } = this.#resolved;
    return Session.open<Output>({
      id: session,
      journal,
      blobs: this.#blobsBeside(journal, blobs),
      resolved: {
        ...this.#resolved,
        options: { ...options, abortGraceMs: Math.min(options.abortGraceMs, graceMs) },
        dependencies: [...(passedOn?.byAgent ?? []), ...dependencies],
      },
      dependencies: passedOn?.forRun,
      logger: this.#given.logger,
      about: this.#given.about,
      lease: this.#given.lease,
      // The driver of the parent owns the child: one that is gone, or was fenced off, owns neither.
      takeOver: true,
      childOf: parent,
      endChild: this.#endChild,
      resolveWith: (change) => this.#resolvedFor({}, change),
      clock,
    });
  }

  /** Ends a sub-agent whose tool is gone, on behalf of its parent's driver. */
  readonly #endChild: NonNullable<Tool["endChild"]> = (place, reason) =>
    endChild(this.openChild(place), reason);

  /**
   * Makes a new session in the same journal from the first records of another. The other is only read, and may be in
   * use. Open the new one with an agent of the same options, and `resume()` it.
   * @param from id of the session that is forked
   * @param id of the new session
   * @throws RondoError `invalid_request` for a point or a call that does not exist, or an id that is taken
   */
  async fork(from: string, id: string, options: ForkOptions & { journal?: Journal } = {}): Promise<void> {
    const { journal = this.#journalOf(from), ...how } = options;
    await forkInto(id, how, {
      from,
      journal,
      blobs: this.#blobsBeside(journal, this.#blobs),
      resolved: this.#resolved,
      resolveWith: (change) => this.#resolvedFor({}, change),
      about: this.#given.about,
      logger: this.#given.logger,
      clock: this.#clock,
    });
  }

  /**
   * Yields a session's records, whoever drives it: those there are, then new ones as they are kept. It only reads, and never
   * ends by itself: leave the loop, or give a signal. It rejects with `storage` if the records were deleted, moved or replaced.
   */
  follow(id: string, options: FollowOptions & { journal?: Journal } = {}): AsyncIterableIterator<LogRecord> {
    const { journal = this.#journalOf(id), ...how } = options;
    return follow(journal, id, how);
  }

  #start(
    input: Input,
    overrides: RunOverrides,
    controller: AbortController,
    gate: Shell["gate"],
    opened: (session: Session<Output>) => Listener,
  ): Promise<RunResult<Output>> {
    const { signal, onEvent } = overrides;
    const abort = (): void => controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    const started = this.#open(overrides, gate, true).then((session) => {
      session.subscribe(opened(session));
      if (onEvent !== undefined) session.subscribe(onEvent);
      return this.#outcome(session, input, overrides, controller.signal);
    });
    const result = started.finally(() => signal?.removeEventListener("abort", abort));
    // A program that reads only the events must not be killed by an unhandled rejection of the result.
    result.catch(() => {});
    return result;
  }

  async #open(
    overrides: RunOverrides & { takeOver?: boolean },
    gate: Shell["gate"],
    forNewRun: boolean,
  ): Promise<Session<Output>> {
    checkOverrides(overrides);
    // If nobody can come back to a run, nothing of it is kept.
    const lasting = this.#given.journal !== undefined || overrides.session !== undefined;
    const id = overrides.session ?? newId(this.#clock);
    const passing = lasting || overrides.journal !== undefined ? undefined : memoryJournal();
    const journal = overrides.journal ?? passing ?? this.#journalOf(id);
    const session = await Session.open<Output>({
      id,
      journal,
      blobs: this.#blobsBeside(journal, this.#blobs),
      resolved: this.#resolvedFor(overrides),
      dependencies: overrides.dependencies,
      logger: this.#given.logger,
      about: this.#given.about,
      lease: this.#given.lease,
      takeOver: overrides.takeOver,
      forNewRun,
      isPassing: passing !== undefined,
      endChild: this.#endChild,
      resolveWith: (change) => this.#resolvedFor(overrides, change),
      clock: this.#clock,
      gate,
    });
    if (passing !== undefined) this.#passing.set(session, passing);
    return session;
  }

  /** Where whole texts are kept: in the agent's `blobs`, else with the journal. Undefined: nowhere. */
  #blobsBeside(journal: Journal, otherwise: BlobStore | undefined): BlobStore | undefined {
    const { blobs } = this.#given;
    return blobs === null ? undefined : (blobs ?? journal.blobs ?? otherwise);
  }

  /** The journal of a session if the caller names none. */
  #journalOf(id: string): Journal {
    const own = this.#parked.get(id);
    if (own !== undefined) return own;
    // A fork of a parked run is in the same journal.
    for (const journal of this.#parked.values()) if (journal.read(id).length > 0) return journal;
    return this.#journal;
  }

  /** Keeps the journal of a parked run, so that its session can be opened even if the agent has no journal. */
  #keepParked(session: Session<Output>): void {
    const journal = this.#passing.get(session);
    if (journal === undefined) return;
    this.#parked.set(session.id, journal);
    const [oldest] = this.#parked.keys();
    if (this.#parked.size > mostParked && oldest !== undefined) this.#parked.delete(oldest);
  }

  #resolvedFor({ tools, toolChoice }: RunOverrides, change?: Partial<AgentOptions>): Resolved {
    if (tools === undefined && toolChoice === undefined && change === undefined) return this.#resolved;
    return resolve({
      ...this.#given,
      ...(tools === undefined ? {} : { tools }),
      ...(toolChoice === undefined ? {} : { toolChoice }),
      ...change,
    });
  }

  async #outcome(
    session: Session<Output>,
    input: Input,
    { forceCompaction = false }: RunOverrides,
    signal: AbortSignal | undefined,
  ): Promise<RunResult<Output>> {
    const options = signal === undefined ? {} : { signal };
    if (forceCompaction && this.#resolved.options.context?.compaction === undefined)
      throw new RondoError("capability", "forceCompaction: this agent has no compaction stage to do it with");
    const result = await (forceCompaction ? session.compact(options) : session.send(input, options));
    const { end } = result;
    if (result.parked !== undefined) this.#keepParked(session);
    // An answer that the provider broke off was not aborted here: that is a failed model, and has an error.
    if (end?.reason === "aborted" && end.error === undefined)
      throw new RondoError("aborted", `the run was aborted: ${String(end.evidence.reason)}`, {
        cause: signal?.reason,
      });
    const { throwOnError } = this.#given;
    if (end?.error !== undefined && typeof throwOnError === "function") throw throwOnError(end);
    if (end?.error !== undefined && throwOnError) throw errorFrom(end.error);
    return result;
  }
}

knownAcrossCopies({ Agent });

/** An older Node would fail in the middle of a run with an unclear error, or lose digits of large numbers. */
function checkRuntime(): void {
  if (typeof Promise.withResolvers === "function") return;
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  const node = process?.versions?.node;
  throw new RondoError(
    "invalid_request",
    `Rondo needs Node 22.18 or newer, or another runtime of that age${node === undefined ? "" : `; this is Node ${node}`}: Promise.withResolvers is missing`,
  );
}

/** Parked runs without a journal that an agent keeps; beyond that the oldest is dropped. */
const mostParked = 1_000;

/** A new session id: the time, so that ids sort by age, and a random part. */
function newId(clock: Clock): string {
  return `${clock.now().toString(36)}-${chanceIn(clock, 6)}`;
}
