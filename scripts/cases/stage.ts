// The room of the stage: all that one play needs, set up and struck again: server, clock, tools, journal, other processes,
// and the course of it.
//
// Nothing here knows what is expected.

import { getEventListeners } from "node:events";
import {
  Agent,
  type Journal,
  type LogRecord,
  type Message,
  memoryJournal,
  messageOf,
  type RondoEvent,
  type RunResult,
  type Session,
  type SessionInfo,
} from "@rondo/core";
import { usualDeed } from "./action-names.ts";
import { answerIn, writes } from "./answering.ts";
import { Cues } from "./cues.ts";
import { type Case, type CaseAction, Unsupported } from "./format.ts";
import { inputOf } from "./given-messages.ts";
import { ModelsAtWork } from "./models-at-work.ts";
import type { Observation } from "./observation.ts";
import { firstPrompt, needsOthers, OtherProcesses } from "./other-processes.ts";
import { protocolOf } from "./providers.ts";
import { repeatsItself, Script } from "./script.ts";
import { type StoredSession, storedSession } from "./stored-session.ts";
import { optionsOf } from "./subject-options.ts";
import { Folder, filesUnder, Workload } from "./tools.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { Watch } from "./watch.ts";
import type { Chunking } from "./wire.ts";
import { type Exchange, Tap, WireServer } from "./wire-server.ts";

export interface PlayOptions {
  chunking: Chunking;
  /** Serve the first response for ever. */
  persist?: boolean;
}

const sessionId = "case";
const guardMs = 60_000;
const defaultTime = Date.UTC(2026, 0, 15, 12);
/** All that one play needs, set up and struck again. */
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
  readonly #stored: StoredSession | undefined;
  readonly #journal: { read(session: string): LogRecord[]; list(): SessionInfo[] } & Journal;
  readonly #controller = new AbortController();
  readonly #watch = new Watch();
  readonly #cues: Cues;
  readonly #said: string[] = [];
  readonly #second: Observation["second"] = [];
  readonly #logged: string[] = [];
  #agent: Agent | undefined;
  #session: Session | undefined;
  #breakOff: (() => void) | undefined;
  #asked = 0;
  #acting = 0;
  #pending: Promise<unknown>[] = [];

  constructor(one: Case, { chunking, persist }: PlayOptions) {
    this.#one = one;
    this.#stored = storedSession(one);
    this.#others =
      this.#stored !== undefined
        ? new OtherProcesses("jsonl", sessionId, this.#stored.history)
        : needsOthers(one.actions)
          ? new OtherProcesses(chunking === "bytes" ? "jsonl" : "sqlite", sessionId, firstPrompt(one))
          : undefined;
    this.#journal = this.#others?.journal ?? memoryJournal();
    this.#script = new Script(one, protocolOf(one.provider), persist === true || repeatsItself(one), () =>
      this.#summarises(),
    );
    const start = one.clock === undefined ? defaultTime : Date.parse(one.clock);
    if (Number.isNaN(start)) throw new Unsupported(`clock ${JSON.stringify(one.clock)} is no time`);
    this.#clock = new VirtualClock(
      start,
      () => this.#busy(),
      () => this.#load.working > 0,
    );
    this.#folder = new Folder(one.given?.fs, one.given?.symlinks);
    this.#cues = new Cues(one.actions ?? [], this.#clock, (action) => this.#act(action));
    this.#server = new WireServer({
      chunking,
      tap: this.#tap,
      next: (request) => {
        this.#asked += 1;
        this.#later(this.#cues.reached("request", this.#asked));
        return this.#script.next(request);
      },
      atFrame: (exchange, frame) => (exchange === 1 ? this.#cues.at("frame", frame) : undefined),
      now: this.#clock.now,
      sleep: (ms) => this.#clock.sleep(ms),
    });
    this.#models = new ModelsAtWork(this.#watch, this.#server);
  }

  async play(): Promise<Observation> {
    const baseURL = await this.#server.start();
    const agent = new Agent(
      optionsOf(this.#one, {
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
      }),
    );
    const performed = this.#perform(agent);
    let guard: ReturnType<typeof setTimeout> | undefined;
    const stuck = new Promise<never>((_, reject) => {
      guard = setTimeout(
        () => reject(new Unsupported(`it did not come to rest within ${guardMs / 1000} s of real time`)),
        guardMs,
      );
    });
    try {
      await Promise.race([performed, stuck]);
    } finally {
      clearTimeout(guard);
      performed.catch(() => {});
    }
    if (this.#server.failure !== undefined) throw this.#server.failure;
    const { left } = this.#cues;
    if (left.length > 0)
      throw new Unsupported(`nothing came of actions at ${left.join(", ")}: the time for them never came`);
    return this.observed();
  }

  observed(): Observation {
    const records = [...this.#journal.read(sessionId)];
    const told = this.#watch.told(records, this.#server.exchanges);
    return {
      ...told,
      said: this.#said,
      second: this.#second,
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

  /** Whether the model that is being asked is asked for a summary. */
  #summarises(): boolean {
    const asked = this.#journal
      .read(sessionId)
      .findLast(({ type }) => type === "summary_started" || type === "model_started");
    return asked?.type === "summary_started";
  }

  /** Whether something is under way that will come to rest by itself. */
  #busy(): boolean {
    if (this.#load.working > 0 || this.#acting > 0) return true;
    if (this.#models.thinking === 0) return false;
    const last: Exchange | undefined = this.#server.exchanges.at(-1);
    const restful = last !== undefined && last.served.eof !== "clean" && last.served.eof !== "reset";
    return !(
      last?.resting === true &&
      (restful || last.delaying === true) &&
      !this.#watch.waitsForExchange(this.#server.exchanges.length)
    );
  }

  // ---- the course of it ------------------------------------------------------------------------------------------

  async #perform(agent: Agent): Promise<void> {
    this.#agent = agent;
    await this.#cues.reached("start");
    if (this.#others !== undefined) return this.#succeed(agent, this.#others);
    const { given = {}, provider } = this.#one;
    const overflows = /compact|drop_images/.test(String(this.#one.expect?.loop_outcome));
    const input = inputOf(given, provider, overflows);
    if (typeof input === "string") this.#said.push(input);
    if (this.#cues.has("event") || given.consumer_delay_ms_per_1000_events !== undefined)
      await this.#streamed(agent, input);
    else {
      const session = await agent.open(sessionId);
      this.#session = session;
      session.subscribe((event) => this.#hear(event));
      await this.#settle(session.send(input, { signal: this.#controller.signal }));
    }
    if (this.#session?.status === "parked") await Promise.all(this.#pending);
    for (const word of ["settled", "later"]) await this.#cues.reached(word);
    for (const turn of this.#one.turns_after ?? [])
      if (turn.prompt !== undefined) await this.#prompt(turn.prompt);
    // What is to be made smaller after a last answer is so before the next request: somebody has to make one.
    const smaller = [this.#one, ...(this.#one.turns ?? [])].some(({ expect }) =>
      /(?:^|_or_)compact(?:$|_or_)/.test(String(expect?.loop_outcome)),
    );
    if (smaller && this.#one.turns_after === undefined && this.#session?.status === "idle")
      await this.#prompt("go on");
    await this.#cues.reached("end");
    await Promise.all(this.#pending);
    await this.#server.letGo();
    this.#watch.over(this.#session?.messages ?? []);
  }

  /** Goes on with a run that another process left, when the case has killed that one. */
  async #succeed(agent: Agent, others: OtherProcesses): Promise<void> {
    if (this.#stored !== undefined) {
      await others.leave(this.#stored.torn);
      this.#said.push(...this.#stored.texts);
    }
    await this.#cues.reached("later");
    for (const record of this.#journal.read(sessionId))
      if (record.type === "model_started") {
        // Asked in another process: nothing of it came by here.
        this.#watch.callStarts(this.#server.exchanges.length);
        this.#watch.callEnds(this.#server.exchanges.length);
      }
    const session = await agent.open(sessionId);
    if (others.opener !== undefined) others.opener.recovered = true;
    this.#session = session;
    session.subscribe((event) => this.#hear(event));
    await this.#settle(session.resume());
    for (const turn of this.#one.turns_after ?? [])
      if (turn.prompt !== undefined) await this.#prompt(turn.prompt);
    this.#watch.over(session.messages);
  }

  async #settle(run: Promise<RunResult>): Promise<void> {
    try {
      this.#watch.settled(await run);
    } catch (thrown) {
      this.#watch.rejected(thrown);
    }
    if (this.#session !== undefined) this.#watch.rests(this.#session.messages);
  }

  /** The run as a stream, for a reader that is slow or breaks off. */
  async #streamed(agent: Agent, input: string | Message[]): Promise<void> {
    const stream = agent.stream(input, {
      session: sessionId,
      signal: this.#controller.signal,
      onEvent: (event) => this.#hear(event),
    });
    const delay = this.#one.given?.consumer_delay_ms_per_1000_events;
    let events = 0;
    let deltas = 0;
    let broken = false;
    this.#breakOff = () => {
      broken = true;
    };
    for await (const event of stream) {
      events += 1;
      if (event.type.endsWith("_delta")) {
        deltas += 1;
        await this.#cues.reached("event", deltas);
      }
      if (broken) break;
      if (delay !== undefined && events % 1000 === 0)
        await new Promise((resolve) => setTimeout(resolve, delay));
    }
    await this.#settle(stream.result);
    this.#session = await agent.open(sessionId);
    this.#watch.rests(this.#session.messages);
  }

  #hear(event: RondoEvent): void {
    this.#watch.hear(event, this.#session?.messages, this.#clock.now());
    if (event.type === "tool_start") this.#later(this.#cues.reached("tool_started"));
    if (event.type === "tool_end") this.#later(this.#cues.reached("tool_finished"));
    if (event.type === "retry") this.#later(this.#cues.reached("backoff_started"));
    if (event.type === "approval_request") this.#later(this.#cues.reached("approval_requested"));
  }

  #later(acting: Promise<void> | undefined): void {
    if (acting !== undefined)
      this.#pending.push(acting.catch((thrown: unknown) => this.#watch.rejected(thrown)));
  }

  // ---- actions ---------------------------------------------------------------------------------------------------

  async #act(action: CaseAction): Promise<void> {
    const text = action.text ?? "continue";
    switch (usualDeed(action.do)) {
      case "abort":
        this.#controller.abort("reason" in action ? action.reason : "the case aborts");
        return;
      case "steer":
        this.#said.push(text);
        this.#session?.steer(text);
        return;
      case "follow_up":
        this.#said.push(text);
        this.#session?.followUp(text);
        return;
      case "prompt":
        await this.#prompt(text);
        return;
      case "open_in_second_process":
        await this.#others?.open();
        return;
      case "kill_9_first_then_reopen":
        await this.#others?.kill();
        return;
      case "break_consumer":
        this.#breakOff?.();
        return;
      case "restart":
        await this.#session?.settled();
        await this.#reopen();
        return;
      case "crash":
        await this.#session?.drain({ withinMs: 0 });
        await this.#reopen();
        if (this.#session !== undefined) await this.#settle(this.#session.resume());
        return;
      case "wait":
        await this.#clock.sleep(action.ms ?? 0);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return;
      default: {
        const answer = answerIn(action);
        if (this.#session !== undefined && answer !== undefined) return this.#answer(answer);
        // Somebody else: a person in an editor, a formatter.
        if (!writes.test(action.do))
          throw new Unsupported(`actions[].do ${JSON.stringify(action.do)}: Rondo has nothing like it yet`);
        if (action.path === undefined) throw new Unsupported(`actions[].do ${action.do} without a path`);
        this.#folder.write(action.path, action.content ?? action.text ?? "");
        return;
      }
    }
  }

  async #reopen(): Promise<void> {
    this.#session = await this.#agent?.open(sessionId);
    this.#session?.subscribe((event) => this.#hear(event));
  }

  /** Answers a call that waits, as soon as nothing else is done. */
  async #answer(answer: (session: Session) => Promise<RunResult>): Promise<void> {
    await this.#session?.settled();
    if (this.#session !== undefined) await this.#settle(answer(this.#session));
  }

  async #prompt(text: string): Promise<void> {
    const session = this.#session;
    if (session === undefined) throw new Unsupported("a prompt needs a session");
    this.#said.push(text);
    if (session.status === "idle") {
      await this.#settle(session.send(text));
      return;
    }
    // Somebody else's prompt into a run that is active. Whoever waits its turn does not hold up the play.
    const entry: Observation["second"][number] = { text, outcome: "rejected", words: "" };
    this.#second.push(entry);
    await new Promise<void>((resolve) => {
      session.send(text).then(
        () => {
          entry.outcome = "ran";
          resolve();
        },
        (thrown: unknown) => {
          entry.words = messageOf(thrown);
          resolve();
        },
      );
      setTimeout(resolve, 50);
    });
    // Where nothing more comes of the first run by itself, the play is over: what was asked for is seen.
    const first = this.#server.exchanges.at(-1);
    if (first?.served.eof === "hang") {
      const framesLeft = this.#cues.left.some((at) => at.startsWith("frame"));
      if (!framesLeft) this.#controller.abort("the play is over");
    }
  }
}
