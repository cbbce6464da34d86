// The room of the agent: the face of it all.
//
// An agent is its options. It holds no conversation; sessions do. `run`, `stream` and `steps` each open a session of
// their own and drive one run in it; `open` gives the session itself.

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

/** Steps, pulled. `result` is what `run` would have resolved with; where that rejects (an abort apart), so does the pull. */
export interface StepStream<Output = unknown> extends AsyncIterable<StepEvent<Output>> {
  readonly result: Promise<RunResult<Output>>;
  /** Cancels the run. What was not pulled is dropped, and the steps end. */
  abort(reason?: string): void;
}

/** An agent as another driver sees it. `blobs`: null where whole texts are kept nowhere, absent where the driver may choose. */
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
  /** The journals of runs that were to keep nothing behind, and wait for somebody: the newest, by session. */
  readonly #parked = new Map<string, MemoryJournal>();
  readonly #passing = new WeakMap<Session<Output>, MemoryJournal>();
  /** For journals that keep no blobs. */
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
   * Runs a task to its end, or until it waits for somebody.
   * @throws RondoError `aborted` when the signal fired or somebody aborted it; the run's error with `throwOnError`; `invalid_request` for a
   *   task that is none. A failed model is no exception: it is `end.reason`.
   */
  async run(input: Input, overrides: RunOverrides = {}): Promise<RunResult<Output>> {
    const session = await this.#open(overrides, undefined, true);
    if (overrides.onEvent !== undefined) session.subscribe(overrides.onEvent);
    return this.#outcome(session, input, overrides, overrides.signal);
  }

  /** Runs a task and tells its live events. Breaking off aborts it. */
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
        // What comes behind it, of a tool that nobody waits for any more, takes nothing of that back.
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
        // A thought is a step as well: it is pulled before the model is asked again.
        view.asking();
        return queue.wanted && queue.length === 0;
      },
      open: undefined as (() => void) | undefined,
    };
    const queue = new EventQueue<StepEvent<Output>>(() => controller.abort("the reader broke off"));
    const view = new StepView((event) => queue.push(event as StepEvent<Output>));
    const result = this.#start(input, overrides, controller, gate, () => (event) => view.hear(event));
    // Whoever cancels wants no more steps, those that wait to be pulled among them.
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
   * @param options.takeOver fence off whoever drives it now: that one can write nothing any more. Default false
   * @throws RondoError `conflict` naming who drives it and until when: wait, `follow` it, or take it over;
   *   `invalid_request` for an id that no journal could keep
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

  /** What the agent is made of, for whoever drives its runs in another way than a `Session` does. */
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

  /** Opens the session of a sub-agent, which belongs to whoever drives its parent. For `subAgent`. */
  openChild({ session, journal, blobs, clock, graceMs, passedOn }: ChildPlace): Promise<Session<Output>> {
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
      // Whoever has the parent has the child: a driver that is gone, or was fenced off, has neither.
      takeOver: true,
      endChild: this.#endChild,
      resolveWith: (change) => this.#resolvedFor({}, change),
      clock,
    });
  }

  /** A sub-agent whose tool is gone is ended by whoever has its parent. */
  readonly #endChild: NonNullable<Tool["endChild"]> = (place, reason) =>
    endChild(this.openChild(place), reason);

  /**
   * A new session in the same journal, which starts from the records of another up to a point. That one is not opened,
   * only read: it may be in use. Open the new one with an agent of the same options, and `resume()` it.
   * @param from the session it is taken from
   * @param id of the new session
   * @throws RondoError `invalid_request` for a point or a call that is not there, or an id that is taken
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
   * A session's records as they land, whoever drives it: those of before, and those to come. It only reads, and never
   * ends by itself: break off, or give a signal. It rejects with `storage` where they were deleted, moved or replaced.
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
    // Who only reads the events must not be killed by a rejection nobody asked about.
    result.catch(() => {});
    return result;
  }

  async #open(
    overrides: RunOverrides & { takeOver?: boolean },
    gate: Shell["gate"],
    forNewRun: boolean,
  ): Promise<Session<Output>> {
    checkOverrides(overrides);
    // A run nobody can come back to keeps nothing behind.
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

  /** Where whole texts are kept: where the agent says, else with the journal. Undefined: nowhere. */
  #blobsBeside(journal: Journal, otherwise: BlobStore | undefined): BlobStore | undefined {
    const { blobs } = this.#given;
    return blobs === null ? undefined : (blobs ?? journal.blobs ?? otherwise);
  }

  /** The journal that has a session where none is named. */
  #journalOf(id: string): Journal {
    const own = this.#parked.get(id);
    if (own !== undefined) return own;
    // A fork of a run that waits stands beside it.
    for (const journal of this.#parked.values()) if (journal.read(id).length > 0) return journal;
    return this.#journal;
  }

  /** A run that waits is come back to, whether or not anybody thought of it beforehand. */
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
    // What the model's provider broke off nobody here has aborted: that is a failed model, and has an error.
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

/** An older one would fail in the midst of a run, in words of its own, or read large numbers as others. */
function checkRuntime(): void {
  if (typeof Promise.withResolvers === "function") return;
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  const node = process?.versions?.node;
  throw new RondoError(
    "invalid_request",
    `Rondo needs Node 22.18 or newer, or another runtime of that age${node === undefined ? "" : `; this is Node ${node}`}: Promise.withResolvers is missing`,
  );
}

/** Runs without a journal that wait for somebody, an agent; the oldest is let go of. */
const mostParked = 1_000;

/** A new session id: the time, so that ids sort by age, and chance. */
function newId(clock: Clock): string {
  return `${clock.now().toString(36)}-${chanceIn(clock, 6)}`;
}
