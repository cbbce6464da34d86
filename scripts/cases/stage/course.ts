// The room of the course: the order of events in a play: prompts, the case's actions, and the rest.
//
// Nothing here knows what is expected.

import {
  type Agent,
  type LogRecord,
  type Message,
  messageOf,
  type RondoEvent,
  type RunResult,
  type Session,
} from "@rondo/core";
import { usualDeed } from "../action-names.ts";
import { answerIn, writes } from "../answering.ts";
import { Cues } from "../cues.ts";
import { type Case, type CaseAction, Unsupported } from "../format.ts";
import { inputOf } from "../given-messages.ts";
import type { Observation } from "../observation.ts";
import type { OtherProcesses } from "../other-processes.ts";
import type { StoredSession } from "../stored-session.ts";
import type { Folder } from "../tools.ts";
import type { VirtualClock } from "../virtual-clock.ts";
import type { Watch } from "../watch.ts";
import type { WireServer } from "../wire-server.ts";

export const sessionId = "case";

interface CourseParts {
  readonly one: Case;
  readonly clock: VirtualClock;
  readonly folder: Folder;
  readonly journal: { read(session: string): readonly LogRecord[] };
  readonly server: WireServer;
  readonly watch: Watch;
  readonly controller: AbortController;
  readonly others: OtherProcesses | undefined;
  readonly stored: StoredSession | undefined;
}

export class Course {
  /** When the case's actions are due. */
  readonly cues: Cues;
  /** What the user side said, in order. */
  readonly said: string[] = [];
  /** What happened to prompts sent during an active run. */
  readonly second: Observation["second"] = [];
  readonly #parts: CourseParts;
  #agent: Agent | undefined;
  #session: Session | undefined;
  #breakOff: (() => void) | undefined;
  #pending: Promise<unknown>[] = [];
  /** Prompts for a stored session, from before it was open. */
  readonly #early: string[] = [];

  constructor(parts: CourseParts) {
    this.#parts = parts;
    this.cues = new Cues(
      parts.one.actions ?? [],
      parts.clock,
      (action) => this.#act(action),
      (acting) => this.later(acting),
    );
  }

  /** Everything from the first prompt until nothing more happens. */
  async perform(agent: Agent): Promise<void> {
    this.#agent = agent;
    await this.cues.reached("start");
    if (this.#parts.others !== undefined) return this.#succeed(agent, this.#parts.others);
    const { given = {}, provider } = this.#parts.one;
    const overflows = /compact|drop_images/.test(String(this.#parts.one.expect?.loop_outcome));
    const input = inputOf(given, provider, overflows);
    if (typeof input === "string") this.said.push(input);
    if (this.cues.has("event") || given.consumer_delay_ms_per_1000_events !== undefined)
      await this.#streamed(agent, input);
    else {
      const session = await agent.open(sessionId);
      this.#session = session;
      session.subscribe((event) => this.#hear(event));
      await this.#settle(session.send(input, { signal: this.#parts.controller.signal }));
    }
    if (this.#session?.status === "parked") await Promise.all(this.#pending);
    for (const word of ["settled", "later"]) await this.cues.reached(word);
    for (const turn of this.#parts.one.turns_after ?? [])
      if (turn.prompt !== undefined) await this.#prompt(turn.prompt);
    // A compaction expected after the last answer shows in the next request, so another prompt must cause one.
    const smaller = [this.#parts.one, ...(this.#parts.one.turns ?? [])].some(({ expect }) =>
      /(?:^|_or_)compact(?:$|_or_)/.test(String(expect?.loop_outcome)),
    );
    if (smaller && this.#parts.one.turns_after === undefined && this.#session?.status === "idle")
      await this.#prompt("go on");
    await this.cues.reached("end");
    await Promise.all(this.#pending);
    await this.#parts.server.letGo();
    this.#parts.watch.over(this.#session?.messages ?? []);
  }

  /** Continues a run of another process that the case has killed. */
  async #succeed(agent: Agent, others: OtherProcesses): Promise<void> {
    if (this.#parts.stored !== undefined) {
      await others.leave(this.#parts.stored.torn);
      this.said.push(...this.#parts.stored.texts);
    }
    await this.cues.reached("later");
    await others.end();
    for (const record of this.#parts.journal.read(sessionId))
      if (record.type === "model_started") {
        // It was requested in another process, so the watch did not see it.
        this.#parts.watch.callStarts(this.#parts.server.exchanges.length);
        this.#parts.watch.callEnds(this.#parts.server.exchanges.length);
      }
    const session = await agent.open(sessionId);
    if (others.opener !== undefined) others.opener.recovered = true;
    this.#session = session;
    session.subscribe((event) => this.#hear(event));
    await this.#settle(session.resume());
    for (const text of this.#early.splice(0)) await this.#prompt(text);
    if (this.#parts.stored !== undefined) await this.cues.reached("settled");
    for (const turn of this.#parts.one.turns_after ?? [])
      if (turn.prompt !== undefined) await this.#prompt(turn.prompt);
    if (this.#parts.stored !== undefined) await this.cues.reached("end");
    await Promise.all(this.#pending);
    this.#parts.watch.over(session.messages);
  }

  async #settle(run: Promise<RunResult>): Promise<void> {
    try {
      this.#parts.watch.settled(await run);
    } catch (thrown) {
      this.#parts.watch.rejected(thrown);
    }
    if (this.#session !== undefined) this.#parts.watch.rests(this.#session.messages);
  }

  /** The run as a stream, for a reader that is slow or stops early. */
  async #streamed(agent: Agent, input: string | Message[]): Promise<void> {
    const stream = agent.stream(input, {
      session: sessionId,
      signal: this.#parts.controller.signal,
      onEvent: (event) => this.#hear(event),
    });
    const delay = this.#parts.one.given?.consumer_delay_ms_per_1000_events;
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
        await this.cues.reached("event", deltas);
      }
      if (broken) break;
      if (delay !== undefined && events % 1000 === 0)
        await new Promise((resolve) => setTimeout(resolve, delay));
    }
    await this.#settle(stream.result);
    this.#session = await agent.open(sessionId);
    this.#parts.watch.rests(this.#session.messages);
  }

  #hear(event: RondoEvent): void {
    this.#parts.watch.hear(event, this.#session?.messages);
    if (event.type === "tool_start") this.later(this.cues.reached("tool_started"));
    if (event.type === "tool_end") this.later(this.cues.reached("tool_finished"));
    if (event.type === "retry") this.later(this.cues.reached("backoff_started"));
    if (event.type === "approval_request") this.later(this.cues.reached("approval_requested"));
    if (event.type === "compaction_start") this.later(this.cues.reached("compaction_started"));
    if (event.type === "compaction_end") this.later(this.cues.reached("compaction_finished"));
    if (event.type === "child" && event.event.type === "run_start")
      this.later(this.cues.reached("sub_agent_started"));
  }

  /** Registers work that must finish before the play ends. */
  later(acting: Promise<void> | undefined): void {
    if (acting !== undefined)
      this.#pending.push(acting.catch((thrown: unknown) => this.#parts.watch.rejected(thrown)));
  }

  async #act(action: CaseAction): Promise<void> {
    const text = action.text ?? "continue";
    switch (usualDeed(action.do)) {
      case "abort":
        this.#parts.controller.abort("reason" in action ? action.reason : "the case aborts");
        return;
      case "steer":
        this.said.push(text);
        this.#session?.steer(text);
        return;
      case "follow_up":
        this.said.push(text);
        this.#session?.followUp(text);
        return;
      case "prompt":
        await this.#prompt(text);
        return;
      case "open_in_second_process":
        await this.#parts.others?.open();
        return;
      case "kill_9_first_then_reopen":
        await this.#parts.others?.kill();
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
        await this.#parts.clock.sleep(action.ms ?? 0);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return;
      default: {
        const answer = answerIn(action);
        if (this.#session !== undefined && answer !== undefined) return this.#answer(answer);
        // An outside writer: a person with an editor, a formatter.
        if (!writes.test(action.do))
          throw new Unsupported(`actions[].do ${JSON.stringify(action.do)}: Rondo has nothing like it yet`);
        const { path, fs = path === undefined ? {} : { [path]: action.content ?? action.text ?? "" } } =
          action;
        if (Object.keys(fs).length === 0) throw new Unsupported(`actions[].do ${action.do} without a path`);
        for (const [name, content] of Object.entries(fs)) this.#parts.folder.write(name, content);
        return;
      }
    }
  }

  async #reopen(): Promise<void> {
    this.#session = await this.#agent?.open(sessionId);
    this.#session?.subscribe((event) => this.#hear(event));
  }

  /** Answers a waiting call, once nothing else is in progress. */
  async #answer(answer: (session: Session) => Promise<RunResult>): Promise<void> {
    await this.#session?.settled();
    if (this.#session !== undefined) await this.#settle(answer(this.#session));
  }

  async #prompt(text: string): Promise<void> {
    const session = this.#session;
    if (session === undefined && this.#parts.stored !== undefined) {
      this.#early.push(text);
      return;
    }
    if (session === undefined) throw new Unsupported("a prompt needs a session");
    this.said.push(text);
    if (session.status === "idle") {
      await this.#settle(session.send(text));
      return;
    }
    // A prompt by somebody else into an active run. Waiting for its turn must not delay the play.
    const entry: Observation["second"][number] = { text, outcome: "rejected", words: "" };
    this.second.push(entry);
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
    // If nothing more comes of the first run by itself, the play is over: everything requested was observed.
    const first = this.#parts.server.exchanges.at(-1);
    if (first?.served.eof === "hang") {
      const framesLeft = this.cues.left.some((at) => at.startsWith("frame"));
      if (!framesLeft) this.#parts.controller.abort("the play is over");
    }
  }
}
