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
  tool,
  waitForAnswer,
} from "@rondo/core";
import { type SeenRequest, say, scripted } from "@rondo/testkit";
import { Gates, hastyClock, turns } from "./gates.ts";
import { type Program, type Step, turnOf } from "./moves.ts";

/** A method that was called, and how it ended. */
interface Called {
  move: string;
  session: Session;
  outcome?: { error: unknown } | "resolved";
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
const lastCall = 14;
const schema = { type: "object", properties: { n: { type: "number" } } } as const;

export const isA = (error: unknown, ...kinds: ErrorKind[]): boolean =>
  error instanceof RondoError && kinds.includes(error.kind);

export class World {
  readonly called: Called[] = [];
  readonly sent: Sent[] = [];
  /** The keys of the calls that ran, as often as they ran. */
  readonly ran: string[] = [];
  readonly requests: SeenRequest[] = [];
  readonly records: () => readonly LogRecord[];
  /** The objects of the session, the newest last. */
  readonly sessions: Session[] = [];
  /** The objects of the session that could not write everything. */
  readonly lost = new Set<Session>();
  /** How many of the sent messages the conversation may lack, because it was cleared or compacted. */
  shortened = 0;
  readonly #program: Program;
  readonly #journal: Journal;
  readonly #gates = new Gates();
  readonly #clock = hastyClock();
  #calls = 0;
  #forks = 0;

  constructor(program: Program) {
    this.#program = program;
    const memory = memoryJournal({ leases: true });
    this.records = () => memory.read("s");
    let groups = 0;
    const isSlow = program.journal === "slow";
    this.#journal = {
      ...memory,
      append: (...group) => {
        if (program.journal === "refuses once" && groups++ === program.refused)
          throw new Error("the disk is full");
        return isSlow ? this.#gates.pass().then(() => memory.append(...group)) : memory.append(...group);
      },
      read: (...what) => (isSlow ? turns(1).then(() => memory.read(...what)) : memory.read(...what)),
    };
  }

  async open(takeOver: boolean = false): Promise<Session> {
    const session = await this.agent().open("s", { takeOver });
    this.sessions.push(session);
    return session;
  }

  agent(): Agent {
    const { toolOrder, followUps } = this.#program;
    const tools = this.#tools();
    const helper = new Agent({ model: this.#model(), tools });
    return new Agent({
      model: this.#model(),
      tools: [...tools, subAgent({ name: "helper", description: "Helps", agent: helper })],
      journal: this.#journal,
      toolOrder,
      followUps,
      clock: this.#clock,
    });
  }

  #model(): ReturnType<typeof scripted> {
    return scripted(async (request) => {
      const number = this.#calls++;
      this.requests.push(request);
      await this.#gates.pass();
      const { answers } = this.#program;
      return number < lastCall
        ? turnOf(answers[number % answers.length] ?? "text", number)
        : say(`answer ${number}, the last`);
    });
  }

  #tools(): Tool[] {
    return [
      tool({
        name: "look",
        description: "Looks",
        inputSchema: schema,
        effect: "read",
        execute: async (_, { signal }) => {
          await this.#gates.pass(signal);
          return "seen";
        },
      }),
      tool({
        name: "save",
        description: "Saves, whoever wants it to stop",
        inputSchema: schema,
        execute: async (_, { idempotencyKey }) => {
          this.ran.push(idempotencyKey);
          await this.#gates.pass();
          return "saved";
        },
      }),
      tool({
        name: "press",
        description: "Presses a button",
        inputSchema: schema,
        permission: "ask",
        execute: (_, { idempotencyKey }) => {
          this.ran.push(idempotencyKey);
          return "pressed";
        },
      }),
      tool({
        name: "buy",
        description: "Buys, once it knows how many",
        inputSchema: schema,
        execute: (_, { idempotencyKey }): unknown => {
          this.ran.push(`${idempotencyKey}, until it asked`);
          return waitForAnswer("How many?");
        },
        resume: (_, answer, { idempotencyKey }) => {
          this.ran.push(idempotencyKey);
          return `bought ${JSON.stringify(answer)}`;
        },
      }),
      tool({
        name: "boom",
        description: "Throws",
        inputSchema: schema,
        effect: "read",
        execute: () => {
          throw new Error("boom");
        },
      }),
    ];
  }

  /** Makes one step. What it starts is not waited for. */
  async step(step: Step): Promise<void> {
    const session = this.sessions[step.nth % this.sessions.length] as Session;
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
        this.shortened = this.sent.length;
        call(session.clear());
        break;
      case "compact":
        this.shortened = this.sent.length;
        call(session.compact());
        break;
      case "continue":
        call(session.continue());
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
        this.#gates.open(nth);
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
          for await (const event of session.stream(() => session.send(text)))
            if (event.type === "tool_start" && nth > 5) break;
        });
        break;
      case "withdraw":
        this.#withdraw(session, nth);
        break;
    }
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

  #call(move: string, session: Session, what: Promise<unknown>): Called {
    const called: Called = { move, session };
    this.called.push(called);
    what.then(
      () => {
        called.outcome = "resolved";
      },
      (error: unknown) => {
        called.outcome = { error };
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
    for (let round = 0; round < 60; round += 1) {
      await this.#until(() => this.isQuiet);
      for (const session of this.sessions)
        await this.#through(session.settled()).catch(() => this.lost.add(session));
      try {
        const session = await this.#through(this.open());
        if (session.status === "idle") return session;
        const [waiting] = session.pending;
        const isAsked = session.status === "parked" && waiting !== undefined;
        await this.#through(isAsked ? session.answer(waiting.id, "the last") : session.resume());
      } catch (error) {
        // An object may still be ending its run, and the one group that is refused may be one of these.
        if (!isA(error, "storage", "conflict")) throw error;
      }
    }
    throw new Error(`the session never becomes idle: it is ${this.sessions.at(-1)?.status}`);
  }

  async #through<Value>(what: Promise<Value>): Promise<Value> {
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
      this.#gates.openAll();
      await turns(1);
    }
    const open = this.called.flatMap(({ move, outcome }) => (outcome === undefined ? [move] : []));
    throw new Error(`it never settles: ${open.join(", ") || "the last steps"}`);
  }
}
