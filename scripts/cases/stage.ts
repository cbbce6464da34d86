// The room of the stage: sets up and tears down what a play needs: server, clock, tools, journal, other processes.
//
// Nothing here knows what is expected.

import { getEventListeners } from "node:events";
import {
  Agent,
  type Journal,
  type LogRecord,
  memoryJournal,
  RondoError,
  type SessionInfo,
} from "@rondo/core";
import { type Case, Unsupported } from "./format.ts";
import { Guard } from "./guard.ts";
import { ModelsAtWork } from "./models-at-work.ts";
import { type Observation, refusedAtOnce } from "./observation.ts";
import { firstPrompt, needsOthers, OtherProcesses } from "./other-processes.ts";
import { protocolOf } from "./providers.ts";
import { repeatsItself, Script } from "./script.ts";
import { Course, sessionId } from "./stage/course.ts";
import { storedSession } from "./stored-session.ts";
import { optionsOf } from "./subject-options.ts";
import { Folder, filesUnder, Workload } from "./tools.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { Watch } from "./watch.ts";
import type { Chunking } from "./wire.ts";
import { type Exchange, Tap, WireServer } from "./wire-server.ts";

export interface PlayOptions {
  chunking: Chunking;
  /** Repeat the first response forever. */
  persist?: boolean;
}

const defaultTime = Date.UTC(2026, 0, 15, 12);

/** Sets up and tears down what a play needs. */
export class Stage {
  readonly #one: Case;
  readonly #script: Script;
  readonly #clock: VirtualClock;
  readonly #load = new Workload();
  readonly #tap = new Tap();
  readonly #server: WireServer;
  readonly #models: ModelsAtWork;
  readonly #folder: Folder;
  readonly #others: OtherProcesses | undefined;
  readonly #journal: { read(session: string): LogRecord[]; list(): SessionInfo[] } & Journal;
  readonly #controller = new AbortController();
  readonly #watch = new Watch();
  readonly #course: Course;
  readonly #logged: string[] = [];
  #guard: Guard | undefined;
  #asked = 0;

  constructor(one: Case, { chunking, persist }: PlayOptions) {
    this.#one = one;
    const stored = storedSession(one);
    this.#others =
      stored !== undefined
        ? new OtherProcesses("jsonl", sessionId, stored.history)
        : needsOthers(one.actions)
          ? new OtherProcesses(
              chunking === "bytes" || chunking === "split" ? "jsonl" : "sqlite",
              sessionId,
              firstPrompt(one),
            )
          : undefined;
    this.#journal = this.#others?.journal ?? memoryJournal();
    this.#script = new Script(one, protocolOf(one.provider), persist === true || repeatsItself(one), () =>
      this.#summarises(),
    );
    // Time is virtual anyway.
    const isTold = one.clock !== undefined && !/^(?:virtual|fake|mock(?:ed)?)$/i.test(one.clock);
    const start = isTold ? Date.parse(one.clock ?? "") : defaultTime;
    if (Number.isNaN(start)) throw new Unsupported(`clock ${JSON.stringify(one.clock)} is no time`);
    this.#clock = new VirtualClock(
      start,
      () => this.#busy(),
      () => this.#load.working > 0,
    );
    this.#folder = new Folder(one.given?.fs, one.given?.symlinks);
    this.#server = new WireServer({
      chunking,
      tap: this.#tap,
      next: (request) => {
        this.#guard?.sign();
        this.#asked += 1;
        this.#course.later(this.#course.cues.reached("request", this.#asked));
        return this.#script.next(request);
      },
      atFrame: (exchange, frame) => (exchange === 1 ? this.#course.cues.at("frame", frame) : undefined),
      now: this.#clock.now,
      sleep: (ms) => this.#clock.sleep(ms),
    });
    this.#models = new ModelsAtWork(this.#watch, this.#server);
    this.#course = new Course({
      one,
      clock: this.#clock,
      folder: this.#folder,
      journal: this.#journal,
      server: this.#server,
      watch: this.#watch,
      controller: this.#controller,
      others: this.#others,
      stored,
    });
  }

  async play(): Promise<Observation> {
    const baseURL = await this.#server.start();
    const options = optionsOf(this.#one, {
      baseURL,
      script: this.#script,
      server: this.#server,
      tap: this.#tap,
      models: this.#models,
      folder: this.#folder,
      clock: this.#clock,
      load: this.#load,
      journal: this.#journal,
      abort: (reason) => this.#controller.abort(reason),
      log: (line) => this.#logged.push(line),
    });
    let agent: Agent;
    try {
      agent = new Agent(options);
    } catch (thrown) {
      if (thrown instanceof RondoError) return refusedAtOnce(thrown, this.#clock.now());
      throw thrown;
    }
    const performed = this.#course.perform(agent);
    this.#guard = new Guard();
    try {
      await Promise.race([performed, this.#guard.stuck]);
    } finally {
      this.#guard.stop();
      performed.catch(() => {});
    }
    if (this.#server.failure !== undefined) throw this.#server.failure;
    const { left } = this.#course.cues;
    if (left.length > 0)
      throw new Unsupported(`nothing came of actions at ${left.join(", ")}: the time for them never came`);
    return this.observed();
  }

  observed(): Observation {
    const records = [...this.#journal.read(sessionId)];
    const told = this.#watch.told(records, this.#server.exchanges);
    return {
      ...told,
      said: this.#course.said,
      second: this.#course.second,
      sinks: [
        ...this.#logged,
        ...records.map((record) => JSON.stringify(record)),
        ...this.#server.exchanges.map((exchange) => exchange.url),
        ...this.#watch.errors,
      ],
      files: filesUnder(this.#folder.path),
      agents: this.#journal.list().length,
      polluted: Object.keys(Object.prototype).length > 0 || Reflect.has({}, "isAdmin"),
      ...(this.#others?.opener === undefined ? {} : { opener: this.#others.opener }),
    };
  }

  async strike(): Promise<void> {
    this.#clock.stop();
    await this.#server.stop();
    this.#folder.remove();
    this.#others?.strike();
  }

  get listeners(): number {
    return getEventListeners(this.#controller.signal, "abort").length;
  }

  get folder(): string {
    return this.#folder.path;
  }

  get timers(): number {
    return this.#clock.waiting;
  }

  /** Whether the current model call asks for a summary. */
  #summarises(): boolean {
    const asked = this.#journal
      .read(sessionId)
      .findLast(({ type }) => type === "summary_started" || type === "model_started");
    return asked?.type === "summary_started";
  }

  /** Whether something is in progress that will settle by itself. */
  #busy(): boolean {
    if (this.#load.working > 0) return true;
    if (this.#models.thinking === 0) return false;
    const last: Exchange | undefined = this.#server.exchanges.at(-1);
    const restful = last !== undefined && last.served.eof !== "clean" && last.served.eof !== "reset";
    return !(
      last?.resting === true &&
      (restful || last.delaying === true) &&
      !this.#watch.waitsForExchange(this.#server.exchanges.length)
    );
  }
}
