// The room of the agent: the object that users create.
//
// An agent is only its options. It holds no conversation; sessions do. `run`, `stream` and `steps` each open a session
// and drive one run in it; `open` returns the session itself.

import { CheckedClock, type Clock, chanceIn, systemClock } from "./clock.ts";
import { knownAcrossCopies } from "./copies.ts";
import { errorFrom, RondoError } from "./errors.ts";
import type { Listener } from "./events.ts";
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
import { EventQueue, once, type RunStream, runStream } from "./stream.ts";
import type { ChildPlace, Tool } from "./tool.ts";

/** Steps, pulled one by one. `result` resolves with what `run` would have returned; if it rejects (except for an abort), so does the iteration. */
export interface StepStream<Output = unknown> extends AsyncIterable<StepEvent<Output>> {
  readonly result: Promise<RunResult<Output>>;
  /** Aborts the run. Steps that were not pulled are dropped, and the iteration ends. */
  abort(reason?: string): void;
}

/** An agent as another driver sees it. `blobs`: `null` if full texts are not kept, absent if the driver may choose. */
export interface AgentParts {
  resolved: Resolved;
  clock: Clock;
  logger?: Logger;
  about?: JsonObject;
  blobs?: BlobStore | null;
}

export class Agent<Output = unknown> {
  // Without the type of its output, so that an agent with a typed output is assignable to any agent.
  readonly #given: AgentOptions;
  readonly #resolved: Resolved;
  readonly #journal: Journal;
  readonly #clock: Clock;
  /** For an agent without a journal: memory journals of parked runs, by session; the newest `mostParked`. */
  readonly #parked = new Map<string, MemoryJournal>();
  readonly #passing = new WeakMap<Session<Output>, MemoryJournal>();
  /** Used if the journal has no blob store. */
  readonly #blobs: BlobStore = memoryBlobs();

  /** @throws RondoError `invalid_request` naming the invalid option */
  constructor(options: AgentOptions<Output>) {
    checkRuntime();
    this.#given = options as AgentOptions;
    this.#resolved = resolve(this.#given);
    this.#journal = options.journal ?? memoryJournal();
    this.#clock = options.clock === undefined ? systemClock : new CheckedClock(options.clock);
  }

  /**
   * Runs a task until the run ends or parks (waits for an approval or an answer).
   * @param input the task: a string, parts (text, files), or a whole history of messages
   * @throws RondoError `aborted` if the run was aborted; the run's error with `throwOnError`; `invalid_request` for an
   *   invalid task. If the model fails, `run` resolves: see `end.reason` and `end.error`.
   */
  async run(input: Input, overrides: RunOverrides = {}): Promise<RunResult<Output>> {
    const session = await this.#open(overrides, undefined, true);
    if (overrides.onEvent !== undefined) session.subscribe(overrides.onEvent);
    return this.#outcome(session, input, overrides, overrides.signal);
  }

  /** Runs a task and yields its live events. Leaving the loop early aborts the run. */
  stream(input: Input, overrides: RunOverrides = {}): RunStream<Output> {
    let session: Session<Output> | undefined;
    return runStream<Output>(this.#resolved.options.output?.schema, {
      start: (hear, controller) =>
        this.#start(input, overrides, controller, undefined, (one) => {
          session = one;
          return hear;
        }),
      rejectsAsItEnds: true,
      context: () => session?.context(),
    });
  }

  /** Runs a task and yields its steps. The model is not called again before all steps of its last answer were pulled. */
  steps(input: Input, overrides: RunOverrides = {}): StepStream<Output> {
    const controller = new AbortController();
    const gate = {
      pass: (): boolean => {
        // Reasoning is a step as well: it is pulled before the model is called again.
        view.asking();
        return queue.wanted && queue.length === 0;
      },
      open: undefined as (() => void) | undefined,
    };
    const queue = new EventQueue<StepEvent<Output>>(() => controller.abort("the reader broke off"));
    const view = new StepView((event) => queue.push(event as StepEvent<Output>));
    const result = this.#start(input, overrides, controller, gate, () => (event) => view.hear(event));
    // After a cancel no further step is delivered, not even those that wait to be pulled.
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
   * Opens a session: a new one, or one that is in the journal.
   * @param id a non-empty string without NUL and unpaired surrogates
   * @param options.takeOver fence off the current driver, which can then write nothing any more. Default: false
   * @throws RondoError `conflict` naming who drives it and until when: wait, `follow` it, or take it over;
   *   `invalid_request` for an invalid id
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

  /** The agent's parts, for a driver other than `Session`. */
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
   * @throws OthersSession if somebody else has a run in it, which stays as it is
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
      // The parent's driver owns the child; the child may be taken over, because its last driver is gone or fenced off.
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
   * Makes a new session in the same journal from the first records of another. The other one is only read, and may be in
   * use. Open the new one with an agent of the same options, and `resume()` it.
   * @param from id of the session to fork
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
   * Yields a session's records, whoever drives it: the existing ones, then new ones as they are stored. It only reads, and never
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
    // A program that reads only the events must not crash because of an unhandled rejection of `result`.
    result.catch(() => {});
    return result;
  }

  async #open(
    overrides: RunOverrides & { takeOver?: boolean },
    gate: Shell["gate"],
    forNewRun: boolean,
  ): Promise<Session<Output>> {
    checkOverrides(overrides);
    // If nobody can open the session again, nothing of it is kept.
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

  /** The store for full texts: the agent's `blobs`, else the journal's. Undefined: there is none. */
  #blobsBeside(journal: Journal, otherwise: BlobStore | undefined): BlobStore | undefined {
    const { blobs } = this.#given;
    return blobs === null ? undefined : (blobs ?? journal.blobs ?? otherwise);
  }

  /** The journal of a session if the caller gives none. */
  #journalOf(id: string): Journal {
    const own = this.#parked.get(id);
    if (own !== undefined) return own;
    // A fork of a parked run is in the same journal.
    for (const journal of this.#parked.values()) if (journal.read(id).length > 0) return journal;
    return this.#journal;
  }

  /** Remembers the memory journal of a parked run, so that its session can be opened even if the agent has no journal. */
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
    // An answer that the provider broke off was not aborted here: the model failed, and there is an error.
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

/** An older Node would fail during a run with an unclear error, or lose digits of large numbers. */
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
