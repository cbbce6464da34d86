// The room of the world: one session, its objects, its model and its tools, which remember what happened to them.

import {
  Agent,
  type ErrorKind,
  type Journal,
  type LogRecord,
  memoryJournal,
  RondoError,
  type Session,
  subAgent,
  type Tool,
  textOf,
} from "@rondo/core";
import { type SeenRequest, say, scripted, usage } from "@rondo/testkit";
import { Gates, hastyClock, turns } from "./gates.ts";
import { Heard } from "./heard.ts";
import { hooksOf } from "./hooks.ts";
import { type Fault, type Program, type Step, turnOf } from "./moves.ts";
import { toolsOf } from "./tools.ts";

/** A method that was called, and how it ended. */
interface Called {
  move: string;
  /** Absent: none of the objects. */
  session: Session | undefined;
  outcome?: { error: unknown } | "resolved" | "crashed";
}

/** A message that was sent. */
interface Sent {
  text: string;
  session: Session;
  /** Of `send`: what must resolve for the message to have been taken. */
  called?: Called;
  withdrawn?: true;
}

/** After so many model calls there are only answers: every program comes to its end. */
const lastCall = 20;

export const isA = (error: unknown, ...kinds: ErrorKind[]): boolean =>
  error instanceof RondoError && kinds.includes(error.kind);

/** What one process has: when it ends, its journal refuses everything, and whatever waits never goes on. */
class Life {
  readonly gates = new Gates();
  #isOver = false;

  end(): void {
    this.#isOver = true;
  }

  check(): void {
    if (this.#isOver) throw new Error("this process is gone");
  }
}

/** Whether it is the session, or one of its sub-agents; forks are others. */
const isOfFamily = (id: string): boolean => id === "s" || id.startsWith("s:");

export class World {
  readonly called: Called[] = [];
  readonly sent: Sent[] = [];
  /** The keys of the calls that ran, as often as they ran. */
  readonly ran: string[] = [];
  readonly requests: SeenRequest[] = [];
  /** What a listener of each object heard. */
  readonly heard = new Map<Session, Heard>();
  /** The records of a session. */
  readonly records: (id: string) => readonly LogRecord[];
  /** The session, its sub-agents' and theirs. */
  readonly family: () => string[];
  /** The objects of the session, the newest last. */
  readonly sessions: Session[] = [];
  /** The objects of the session that could not write everything. */
  readonly lost = new Set<Session | undefined>();
  /** How many of the sent messages the conversation may lack, because it was cleared or compacted. */
  shortened = 0;
  readonly #program: Program;
  readonly #journal: (life: Life) => Journal;
  #life = new Life();
  readonly #clock = hastyClock();
  #calls = 0;
  #forks = 0;
  /** Between the first step and the end. */
  #mayFail = false;
  #hooks = 0;

  constructor(program: Program) {
    this.#program = program;
    const { isSlow, leases, isText, fault } = program.journal;
    const memory = memoryJournal({ leases });
    this.records = (id) => memory.read(id);
    this.family = () => memory.list().flatMap(({ id }) => (isOfFamily(id) ? [id] : []));
    let times = 0;
    /** Whether it is the one time that this fails. */
    const fails = (what: Fault, id: string): boolean =>
      this.#mayFail && what === fault && isOfFamily(id) && times++ === program.refused;
    this.#journal = (life) => ({
      ...memory,
      append: (...group) => {
        const append = (): void => {
          life.check();
          if (fails("refused", group[0])) throw new Error("the disk is full");
          const [id, seq, records, token] = group;
          memory.append(
            id,
            seq,
            isText ? (JSON.parse(JSON.stringify(records)) as LogRecord[]) : records,
            token,
          );
          if (fails("answer lost", group[0])) throw new Error("the connection is lost");
        };
        return isSlow ? life.gates.pass().then(append) : append();
      },
      read: (...what) => {
        const read = (): LogRecord[] => {
          life.check();
          if (fails("unread", what[0])) throw new Error("the disk does not answer");
          return memory.read(...what);
        };
        return isSlow ? turns(1).then(read) : read();
      },
    });
  }

  async open(takeOver: boolean = false, id: string = "s"): Promise<Session> {
    const life = this.#life;
    const session = await this.agent().open(id, { takeOver });
    const heard = new Heard();
    this.heard.set(session, heard);
    session.subscribe((event) => heard.hear(event));
    if (life === this.#life && id === "s") this.sessions.push(session);
    return session;
  }

  /** @param depth 0: of the session; 1: of its sub-agents; and so on */
  agent(depth: number = 0): Agent {
    const { toolOrder, followUps, hooks, depth: deepest } = this.#program;
    const life = this.#life;
    const tools = toolsOf(life.gates, this.ran);
    const agent = depth < deepest ? [this.#helper(depth + 1)] : [];
    return new Agent({
      model: this.#model(life, depth),
      tools: [...tools, ...agent],
      journal: this.#journal(life),
      ...(hooks.length === 0 ? {} : { hooks: hooksOf(life.gates, () => hooks[this.#hooks++]) }),
      toolOrder,
      followUps,
      clock: this.#clock,
    });
  }

  #helper(depth: number): Tool {
    return subAgent({ name: "helper", description: "Helps", agent: this.agent(depth) });
  }

  #model(life: Life, depth: number): ReturnType<typeof scripted> {
    return scripted(async (request) => {
      const number = this.#calls++;
      this.requests.push(request);
      await life.gates.pass();
      const { answers, inner } = this.#program;
      const list = depth === 0 ? answers : inner;
      const turn =
        number < lastCall
          ? turnOf(list[number % list.length] ?? "text", number)
          : say(`answer ${number}, the last`);
      return [...[turn].flat(), usage({ inputTokens: 10 ** (depth % 3), outputTokens: 1 })];
    });
  }

  /** Makes one step. What it starts is not waited for. */
  async step(step: Step): Promise<void> {
    this.#mayFail = true;
    const session = this.sessions[step.nth % this.sessions.length];
    // After a crash it is not open again at once.
    if (session !== undefined)
      try {
        this.#move(session, step);
      } catch (error) {
        this.called.push({ move: step.move, session, outcome: { error } });
      }
    await turns(step.turns);
  }

  #move(session: Session, { move, nth }: Step): void {
    const pending = session.pending[nth % session.pending.length]?.id ?? "none";
    const call = (what: Promise<unknown>): void => void this.#call(move, session, what);
    switch (move) {
      case "abort":
        session.abort("enough");
        break;
      case "allow":
        call(session.allow({ tool: "press", uses: 1 }));
        break;
      case "answer":
        call(session.answer(pending, "three"));
        break;
      case "approve":
        call(session.approve(pending));
        break;
      case "clear":
        call(this.#shortening(session.clear()));
        break;
      case "compact":
        call(this.#shortening(session.compact()));
        break;
      case "continue":
        call(session.continue());
        break;
      case "crash":
        this.crash();
        break;
      case "deny":
        call(session.deny(pending, "no"));
        break;
      case "denyAndStop":
        call(session.deny(pending, "no", { stop: true }));
        break;
      case "drain":
        call(session.drain({ withinMs: 2 }));
        break;
      case "edit":
        call(session.edit(pending, { n: 5000 + nth }));
        break;
      case "followUp":
        session.followUp(this.#text(session));
        break;
      case "fork":
        call(session.fork(`fork ${this.#forks++}`));
        break;
      case "let":
        this.#life.gates.open(nth);
        break;
      case "open":
      case "takeOver":
        call(this.open(move === "takeOver"));
        break;
      case "resume":
        call(session.resume());
        break;
      case "send":
        this.#send(session, (text) => session.send(text));
        break;
      case "steer":
        session.steer(this.#text(session));
        break;
      case "stream":
        this.#send(session, async (text) => {
          const stream = session.stream(() => session.send(text));
          for await (const event of stream) if (event.type === "tool_start" && nth > 5) break;
          await stream.result;
        });
        break;
      case "tell":
        this.#send(session, (text) => session.tell(text));
        break;
      case "withdraw":
        this.#withdraw(session, nth);
        break;
    }
  }

  /** Nothing of this life goes on; another begins. */
  crash(): void {
    this.#life.end();
    this.#life = new Life();
    for (const session of this.sessions.splice(0)) this.lost.add(session);
    for (const called of this.called) called.outcome ??= "crashed";
    this.#call("takeOver", undefined, this.open(true));
  }

  /** It may be done only when more was sent. */
  async #shortening(what: Promise<unknown>): Promise<void> {
    const shorten = (): void => {
      this.shortened = this.sent.length;
    };
    shorten();
    await what.finally(shorten);
  }

  #text(session: Session): string {
    const text = `word ${this.sent.length}.`;
    this.sent.push({ text, session });
    return text;
  }

  #send(session: Session, send: (text: string) => Promise<unknown>): void {
    const text = this.#text(session);
    const called = this.#call("send", session, send(text));
    Object.assign(this.sent.at(-1) as Sent, { called });
  }

  #withdraw(session: Session, nth: number): void {
    const queued = session.queued[nth % session.queued.length];
    if (queued === undefined) return;
    const sent = this.sent.find(({ text }) => text === textOf(queued.message));
    const withdrawal = session.withdraw(queued.id).then((was) => {
      if (was && sent !== undefined) sent.withdrawn = true;
    });
    this.#call("withdraw", session, withdrawal);
  }

  #call(move: string, session: Session | undefined, what: Promise<unknown>): Called {
    const called: Called = { move, session };
    this.called.push(called);
    what.then(
      () => {
        called.outcome ??= "resolved";
      },
      (error: unknown) => {
        called.outcome ??= { error };
      },
    );
    return called;
  }

  /** Whether everything that was called has settled. */
  get isQuiet(): boolean {
    return this.called.every(({ outcome }) => outcome !== undefined);
  }

  /**
   * Answers whatever waits, until the session is idle and everything that was called has settled.
   * @throws Error if that does not happen
   */
  async end(): Promise<Session> {
    await this.settled();
    for (const session of this.sessions)
      await this.through(session.settled()).catch(() => this.lost.add(session));
    const session = await this.finish("s", this.sessions.length === 0);
    this.mend();
    return session;
  }

  /** From here on the journal does not fail. */
  mend(): void {
    this.#mayFail = false;
  }

  /** Resolves when everything that was called has settled. */
  async settled(): Promise<void> {
    await this.#until(() => this.isQuiet);
  }

  /** Answers whatever waits in a session that nobody uses, until it is idle. */
  async finish(id: string, takeOver: boolean = false): Promise<Session> {
    let status: string | undefined;
    for (let round = 0; round < 60; round += 1)
      try {
        const session = await this.through(this.open(takeOver, id));
        status = session.status;
        if (status === "idle") return session;
        const [waiting] = session.pending;
        const isAsked = status === "parked" && waiting !== undefined;
        await this.through(isAsked ? session.answer(waiting.id, "the last") : session.resume());
      } catch (error) {
        // An object may still be ending its run, and the one group that is refused may be one of these.
        if (!isA(error, "storage", "conflict")) throw error;
        await this.settled();
        for (const session of this.sessions) await this.through(session.settled()).catch(() => {});
      }
    throw new Error(`the session ${id} never becomes idle: it is ${status}`);
  }

  /** Lets everything go on until a promise settles. */
  async through<Value>(what: Promise<Value>): Promise<Value> {
    let settled = false;
    const mark = (): void => {
      settled = true;
    };
    what.then(mark, mark);
    await this.#until(() => settled);
    return what;
  }

  /** Lets everything go on until something is the case. */
  async #until(is: () => boolean): Promise<void> {
    for (let round = 0; round < 2000; round += 1) {
      if (is()) return;
      this.#life.gates.openAll();
      await turns(1);
    }
    const open = this.called.flatMap(({ move, outcome }) => (outcome === undefined ? [move] : []));
    throw new Error(`it never settles: ${open.join(", ") || "the last steps"}`);
  }
}
