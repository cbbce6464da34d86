// The room of the course: an agent from its task to its end, with everybody who talks to it meanwhile.
//
// When somebody talks is determined by events of the run, not by time, and the answer to a call by its arguments.

import { type Agent, RondoError, type RondoEvent, type RunResult, type Session } from "@rondo/core";
import { Chance } from "../chance.ts";
import type { Deed, Plan } from "./plan.ts";

/** Reports a broken promise that was observed directly. */
export type Complain = (words: string) => void;

export const task = "Put everything in order, and say so when it is.";

/** Everybody who talks to an agent while it works. */
export class Company {
  readonly #plan: Plan;
  readonly #salt: string;
  readonly #counts = new Map<string, number>();
  readonly #left: Set<Deed>;
  readonly #controller = new AbortController();
  #session: Session | undefined;
  #numbers = 0;
  /** Actions in progress. */
  readonly #under = new Set<Promise<unknown>>();
  /** Ids of the messages sent. */
  readonly said: string[] = [];

  /** @param salt differs for each life of an agent, so that each sends other messages */
  constructor(plan: Plan, salt: string = "") {
    this.#plan = plan;
    this.#salt = salt;
    this.#left = new Set(plan.deeds);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  attend(session: Session): void {
    this.#session = session;
    session.subscribe(this.hear);
  }

  /** When anything was last heard of the run, by `performance.now()`. */
  heardAt: number = performance.now();

  /** A reader received something. */
  alive(): void {
    this.heardAt = performance.now();
  }

  readonly hear = (event: RondoEvent): void => {
    this.alive();
    const count = (this.#counts.get(event.type) ?? 0) + 1;
    this.#counts.set(event.type, count);
    for (const deed of this.#left)
      if (deed.on === event.type && deed.nth === count) {
        this.#left.delete(deed);
        queueMicrotask(() => this.#perform(deed));
      }
  };

  /** Resolves when no action is pending any more. */
  async quiet(): Promise<void> {
    while (this.#under.size > 0) await Promise.allSettled(this.#under);
  }

  #perform({ deed }: Deed): void {
    const session = this.#session;
    if (session === undefined) {
      if (deed === "abort" || deed === "break_off") this.#controller.abort("somebody wants it to stop");
      return;
    }
    const id = `${this.#plan.name}${this.#salt}/${this.#numbers++}`;
    if (deed === "steer" || deed === "follow_up") {
      if (deed === "steer") session.steer(`Mind this as well: ${id}.`, id);
      else session.followUp(`Then do this: ${id}.`, id);
      this.said.push(id);
    } else if (deed === "withdraw") {
      const [waiting] = session.queued;
      session.steer(`Or rather not: ${id}.`, id);
      this.said.push(id);
      for (const word of [waiting?.id, id]) if (word !== undefined) this.#while(session.withdraw(word));
    } else if (deed === "compact") this.#while(session.compact());
    else if (deed === "drain") this.#while(session.drain({ withinMs: 150 }));
    else session.abort("somebody wants it to stop");
  }

  #while(doing: Promise<unknown>): void {
    // Whoever drives the run gets the error of a run that has ended or failed meanwhile.
    const heard = doing.catch(() => {}).finally(() => this.#under.delete(heard));
    this.#under.add(heard);
  }
}

/** Follows the plan. Resolves when the agent has ended, is parked for good, or failed in a permitted way. */
export async function course(
  seed: number,
  plan: Plan,
  agent: Agent,
  company: Company,
  complain: Complain,
): Promise<Session | undefined> {
  try {
    if (plan.face === "session") return await bySession(seed, plan, agent, company);
    const result = await byFace[plan.face](seed, plan, agent, company);
    if (result?.parked === undefined) return undefined;
    const session = await agent.open(plan.name);
    company.attend(session);
    await toTheEnd(seed, plan, session, () => session.resume());
    await session.settled();
    return session;
  } catch (thrown) {
    if (!(thrown instanceof Error)) complain(`what it failed with is no error: ${String(thrown)}`);
    else if (
      thrown instanceof RondoError &&
      ["internal", "storage", "conflict"].includes(thrown.kind) &&
      !isHook(thrown)
    )
      complain(`it failed with ${thrown.kind}: ${thrown.message}`);
    else if (!(thrown instanceof RondoError) && thrown.name !== "StepSequenceError" && isDefect(thrown))
      complain(`it failed with ${thrown.stack}`);
    return undefined;
  }
}

/** An error thrown by a user's own hook, with which the run ends. */
const isHook = ({ message }: Error): boolean =>
  message.includes("hook is broken") || message.includes("hook failed");

const isDefect = (thrown: Error): boolean =>
  thrown instanceof TypeError || thrown instanceof ReferenceError || thrown.message.includes("defect");

type ByFace = (seed: number, plan: Plan, agent: Agent, company: Company) => Promise<RunResult | undefined>;

const byFace: { readonly [face in "run" | "stream" | "steps"]: ByFace } = {
  run: (_seed, { name }, agent, company) =>
    agent.run(task, { session: name, signal: company.signal, onEvent: company.hear }),

  async stream(seed, plan, agent, company) {
    const chance = new Chance(seed, plan.name, "reader");
    const stream = agent.stream(task, { session: plan.name, signal: company.signal, onEvent: company.hear });
    return read(chance, company, stream, stream.result, 60);
  },

  async steps(seed, plan, agent, company) {
    const chance = new Chance(seed, plan.name, "reader");
    const steps = agent.steps(task, { session: plan.name, signal: company.signal, onEvent: company.hear });
    return read(chance, company, steps, steps.result, 8);
  },
};

/** Reads as real readers do: to the end, slowly, or only partly. @returns undefined when it stopped early */
async function read(
  chance: Chance,
  company: Company,
  items: AsyncIterable<unknown>,
  result: Promise<RunResult>,
  many: number,
): Promise<RunResult | undefined> {
  const pace = chance.pick(["all", "all", "slowly", "so far"]);
  const most = 1 + chance.below(many);
  let number = 0;
  for await (const _item of items) {
    number += 1;
    company.alive();
    if (pace === "slowly") await new Promise((resolve) => setImmediate(resolve));
    if (pace === "so far" && number >= most) break;
  }
  return result;
}

async function bySession(seed: number, plan: Plan, agent: Agent, company: Company): Promise<Session> {
  const session = await agent.open(plan.name);
  company.attend(session);
  const left = session.status === "idle" && session.result !== undefined ? 0 : plan.runs;
  for (let run = 0; run < left; run += 1) {
    if (session.status !== "idle" && run > 0) break;
    await toTheEnd(seed, plan, session, () => {
      if (session.status !== "idle") return session.resume();
      // After an error or an abort it is still the model's turn: no new message is needed.
      const isUnanswered = run > 0 && session.messages.at(-1)?.role !== "assistant";
      return isUnanswered ? session.continue() : session.send(task);
    });
    await company.quiet();
    await session.settled();
    // A compaction requested at the very end may find queued work, and may be interrupted too.
    while (session.status === "interrupted") {
      await toTheEnd(seed, plan, session, () => session.resume());
      await company.quiet();
      await session.settled();
    }
  }
  return session;
}

/** Answers waiting calls and continues interrupted runs until the run has ended. Some calls are never answered. */
async function toTheEnd(
  seed: number,
  plan: Plan,
  session: Session,
  start: () => Promise<RunResult>,
): Promise<void> {
  let result: RunResult | undefined = await start();
  while (result !== undefined && result.end === undefined) {
    if (session.status === "running") await session.settled();
    if (session.status === "idle") return;
    result = session.status === "interrupted" ? await session.resume() : await answered(seed, plan, session);
  }
}

async function abortedFor(session: Session, why: string): Promise<RunResult | undefined> {
  session.abort(why);
  await session.settled();
  return session.result;
}

/** @returns undefined when nobody ever answers */
async function answered(seed: number, plan: Plan, session: Session): Promise<RunResult | undefined> {
  const [waiting] = session.pending;
  if (waiting === undefined) return undefined;
  const { id, args, child, interrupted, question } = waiting;
  const roll = new Chance(seed, plan.name, "approval", JSON.stringify(args)).below(20);
  try {
    if (question !== undefined) {
      if (roll === 8) return undefined;
      if (roll === 9) return await abortedFor(session, "nobody is there to answer");
      return await session.answer(id, roll < 3 ? new Error("nobody wants that") : { round: question.round });
    }
    if (roll < 3) return await session.deny(id, "not now");
    if (roll === 3) return await session.deny(id, "and no more", { stop: true });
    if (roll < 6 && interrupted !== true)
      return await session.edit(id, { ...args, on: `${String(args.on)}e` });
    if (roll < 8 && child === undefined && interrupted !== true)
      return await session.approve(id, { always: { args: "any", uses: 2 } });
    if (roll === 8) return undefined;
    if (roll === 10) return await session.answer(id, "somebody did it by hand");
    if (roll === 9) return await abortedFor(session, "nobody is there to ask");
    return await session.approve(id);
  } catch (thrown) {
    // Somebody else answered first: the run has continued.
    if (!(thrown instanceof RondoError) || thrown.kind !== "invalid_request") throw thrown;
    await session.settled();
    return session.result;
  }
}
