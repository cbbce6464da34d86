// Lives of a session under every preset: each dies over its journal at an instant that chance names, and the next goes on.
//
// In one process, so that there are hundreds of deaths in a second. `npm run -s crash` and `npm run -s chaos` kill real
// ones; here is what they do not come by: forks taken out of a run that works, with the texts of its cut results, an
// abort between intent and start, leave given on the way, and every preset with the same tools.

import {
  Agent,
  type AgentOptions,
  emptyState,
  isPaired,
  type Journal,
  type LogRecord,
  memoryBlobs,
  memoryJournal,
  RondoError,
  type Rules,
  type RunResult,
  reduce,
  reduceAll,
  type Session,
  subAgent,
  type Tool,
  textOf,
  tool,
} from "@rondo/core";
import { agentStrategy, managedContext, steerable, stepSequence, thinkActObserve } from "@rondo/core/presets";
import { call, say, scripted, usage } from "@rondo/testkit";
import { expect, test } from "vitest";
import { Chance } from "../scripts/chance.ts";

const inputSchema = { type: "object", properties: { on: { type: "string" } } } as const;
const output = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] } as const;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const isDeath = (thrown: unknown): boolean => String(thrown).includes("the process is dead");

/** What outlives every life: the journal, the kept texts, and what tools really did. */
class World {
  readonly chance: Chance;
  readonly journal = memoryJournal();
  readonly blobs = memoryBlobs();
  readonly writes: string[] = [];
  readonly sessions = new Set(["s"]);
  /** What each answer asks for. */
  readonly plan: readonly (readonly string[])[];
  /** The loop is told that a note may be written again: to see whether anybody notices. */
  readonly lies: boolean;
  /** Its journal writes asynchronously. */
  readonly slow: boolean;
  life = 0;
  /** Groups of records until this life ends. */
  left = Number.POSITIVE_INFINITY;

  constructor(preset: string, trial: number, lies = false) {
    this.chance = new Chance("lives", preset, trial);
    this.lies = lies;
    this.slow = trial % 2 === 1;
    const names = ["look", "big", "note", "set", "press", "helper"];
    this.plan = this.chance.many(3 + this.chance.below(3), () =>
      this.chance.many(this.chance.below(4), () => this.chance.pick(names)),
    );
  }

  /** The journal of the present life. Whether its last group was kept, nobody knows who died over it. */
  mortal(): Journal {
    const mine = this.life;
    let dead = false;
    const append: Journal["append"] = (session, seq, records) => {
      this.left -= records.length > 0 ? 1 : 0;
      const dies = dead || mine !== this.life || this.left < 0;
      const kept = !dead && mine === this.life && (!dies || this.chance.is(0.5));
      dead = dies;
      if (kept) this.journal.append(session, seq, JSON.parse(JSON.stringify(records)) as LogRecord[]);
      if (dead) throw new RondoError("storage", "the process is dead");
    };
    return {
      blobs: this.blobs,
      read: (session, from) => this.journal.read(session, from),
      list: () => this.journal.list(),
      // One that takes its time has instants of its own: between a group and what follows from it.
      append: this.slow
        ? async (...group) => {
            await turn();
            await append(...group);
            if (this.chance.is(0.5)) await turn();
          }
        : append,
    };
  }

  tools(): Tool[] {
    const mine = this.life;
    const made = (name: string, effect: "read" | "idempotent" | "write", more: object = {}): Tool =>
      tool({
        name,
        description: name,
        inputSchema,
        effect,
        execute: async (_args, { idempotencyKey }) => {
          if ((name === "note" || name === "press") && mine === this.life) this.writes.push(idempotencyKey);
          if (this.chance.is(0.5)) await turn();
          return name === "big" ? "row\n".repeat(1_000) : `${name} ran`;
        },
        ...more,
      });
    return [
      made("look", "read"),
      made("big", "read"),
      made("note", this.lies ? "idempotent" : "write"),
      made("set", "idempotent"),
      made("press", "write", { permission: "ask" }),
    ];
  }
}

/** A mind that is a function of the request alone. */
const mindOf = ({ plan }: World) =>
  scripted(
    (request) => {
      const before = [...request.messages].filter(({ role }) => role === "assistant").length;
      const known = (plan[before] ?? []).filter((name) => request.tools.some((one) => one.name === name));
      return [
        usage({ inputTokens: 10, outputTokens: 5 }),
        say(request.outputSchema === undefined ? `step ${before}` : '{"answer":"so"}'),
        ...(request.outputSchema === undefined
          ? known.map((name, at) => call(name, { on: `${before}.${at}` }))
          : []),
      ];
    },
    { keepRequests: false, facts: { contextWindow: 20_000, maxOutputTokens: 1_000 } },
  );

const presets: {
  readonly [name: string]: (given: Pick<AgentOptions, "model"> & { tools: Tool[] }) => unknown;
} = {
  default: (given) => given,
  "typed output": (given) => ({ ...given, output }),
  hooks: (given) => ({
    ...given,
    hooks: {
      beforeTool: async ({ name, args }: { name: string; args: object }) =>
        name === "look" ? { args: { ...args, on: "elsewhere" } } : undefined,
      afterTool: async ({ name }: { name: string }) => (name === "set" ? { content: "seen" } : undefined),
      prepareStep: async () => ({}),
      transformContext: async (messages: object[], { step }: { step: number }) =>
        step % 2 === 0
          ? [...messages, { role: "user", content: [{ type: "text", text: "Mind." }] }]
          : undefined,
      onFinish: async ({ messages }: { messages: Iterable<never> }) =>
        [...messages].some((message) => textOf(message).includes("one more")) ? undefined : "one more",
    },
  }),
  "think act observe": (given) => thinkActObserve({ ...given, maxIterations: 12 }),
  "step sequence": (given) => stepSequence({ ...given, maxSteps: 12, output }),
  steerable: (given) => steerable({ ...given, ceiling: 12 }),
  "managed context": (given) => managedContext({ ...given, maxIterations: 12 }),
  "agent strategy": (given) => agentStrategy({ ...given, maximumIterations: 6 }),
};

function agentOf(world: World, preset: string): Agent {
  const tools = world.tools();
  const helper = new Agent({
    model: scripted(({ messages }) =>
      [...messages].some(({ role }) => role === "tool")
        ? [usage({ inputTokens: 7, outputTokens: 4 }), say("helped")]
        : [usage({ inputTokens: 3, outputTokens: 1 }), call("note", { on: "h" }), call("press", { on: "h" })],
    ),
    tools: tools.filter(({ name }) => name === "note" || name === "press"),
  });
  const under = subAgent({
    name: "helper",
    description: "helps",
    agent: helper,
    inputSchema,
    task: () => "help",
  });
  return new Agent({
    context: { cap: { bytes: 500 } },
    ...(presets[preset]?.({ model: mindOf(world), tools: [...tools, under] }) as AgentOptions),
    journal: world.mortal(),
    retry: { baseMs: 0 },
  });
}

/** What others do while the session works. */
function besiege(world: World, agent: Agent, session: Session): void {
  const { chance } = world;
  let words = 0;
  const deeds: readonly (() => void)[] = [
    () => session.steer("mind this", `${session.id}-${world.life}-${++words}`),
    () => session.followUp("and that", `${session.id}-${world.life}-${++words}`),
    () => void session.queued.slice(0, 1).map(({ id }) => session.withdraw(id)),
    () => void session.allow({ tool: "press", uses: 1 }).catch(() => {}),
    () => void session.compact().catch(() => {}),
    () => {
      const id = `fork${world.sessions.size}`;
      if (world.sessions.size > 2 || world.journal.read(session.id).length < 2) return;
      world.sessions.add(id);
      void agent.fork(session.id, id).catch((thrown: unknown) => {
        if (!isDeath(thrown)) throw thrown;
      });
    },
    () => session.abort("enough"),
  ];
  session.subscribe(({ type }) => {
    if (!["tool_start", "tool_end", "step_start"].includes(type) || !chance.is(0.12)) return;
    // What is said may be said by a life that is over.
    try {
      deeds[chance.few(deeds.length + 1) - 1]?.();
    } catch (thrown) {
      if (!isDeath(thrown)) throw thrown;
    }
  });
}

/** Goes on until the run has ended, whoever must be asked. */
async function live(world: World, agent: Agent, id: string): Promise<void> {
  const session = await agent.open(id);
  besiege(world, agent, session);
  let result: RunResult | undefined = session.result;
  if (session.status !== "idle") result = await session.resume();
  else if (result?.end === undefined) result = await session.send("go");
  while (result?.parked !== undefined) {
    const waiting: string = result.parked.pending[0]?.id ?? "";
    const answer = world.chance.below(3);
    if (answer === 0) result = await session.approve(waiting);
    else
      result = await (answer === 1 ? session.deny(waiting, "no") : session.edit(waiting, { on: "edited" }));
  }
}

async function lives(world: World, preset: string, id: string, deaths: number): Promise<void> {
  for (let death = 0; death <= deaths; death += 1) {
    world.life += 1;
    world.left = death < deaths ? world.chance.below(12) : Number.POSITIVE_INFINITY;
    try {
      await live(world, agentOf(world, preset), id);
    } catch (thrown) {
      if (!isDeath(thrown)) throw thrown;
    }
    // What a life that is over had under way finds nobody who would take it.
    world.life += 1;
    for (let turns = 0; turns < 4; turns += 1) await turn();
  }
}

/** P1, P5, P6, P7, P8 of one session's records, whether what they speak of can be read, who was left behind, and the bill. */
async function judge(world: World, preset: string, id: string): Promise<void> {
  const records = world.journal.read(id);
  world.left = Number.POSITIVE_INFINITY;
  const agent = agentOf(world, preset);
  let state = emptyState;
  let aborted = false;
  for (const record of records) {
    state = reduce(state, record, agent.parts.resolved.rules);
    if (record.type === "abort_asked" || record.type === "run_ended") aborted = record.type === "abort_asked";
    const starts = ["model_started", "summary_started", "tool_started"].includes(record.type);
    expect(aborted && starts, `${id}: record ${record.seq} starts something after an abort`).toBe(false);
    expect(isPaired([...state.history]), `${id}: record ${record.seq} leaves a call without its result`).toBe(
      true,
    );
  }
  const ends = records.filter(({ type }) => type === "run_ended").length;
  expect(ends, `${id}: its runs have an end each`).toBe(
    records.filter(({ type }) => type === "run_started").length,
  );
  expect(
    (await (await agent.open(id)).replay()).difference,
    `${id}: replayed as it was sent`,
  ).toBeUndefined();
  for (const record of records) {
    if (record.type !== "queued") continue;
    const times = records.filter((one) => one.type === "delivered" && one.ids.includes(record.id)).length;
    const isWithdrawn = records.some((one) => one.type === "withdrawn" && one.id === record.id);
    const least = state.run?.end?.reason === "completed" && !isWithdrawn ? 1 : 0;
    expect(times, `${id}: ${record.id} is delivered once`).toBeGreaterThanOrEqual(least);
    expect(times, `${id}: ${record.id} is delivered once`).toBeLessThanOrEqual(1);
  }
  for (const child of childrenOf(world, id)) {
    const { run } = reduceAll(world.journal.read(child), agent.parts.resolved.rules);
    expect(run === undefined || run.end !== undefined, `${id}: its sub-agent ${child} has an end`).toBe(true);
  }
  // A fork has the bill of what it shares, and not the sub-agents.
  if (id === "s")
    expect(toldSpent(records, agent.parts.resolved.rules), `${id}: what was spent is told once`).toBe(
      reallySpent(world, id),
    );
  for (const ref of state.outputs)
    expect(await world.blobs.get(id, ref), `${id}: the text ${ref} is kept`).toBeDefined();
}

const childrenOf = ({ journal }: World, id: string): string[] =>
  journal
    .list()
    .map((one) => one.id)
    .filter((one) => one.startsWith(`${id}:`));

/** What its runs say that they spent, in tokens. */
function toldSpent(records: readonly LogRecord[], rules: Rules): number {
  let sum = 0;
  let state = emptyState;
  for (const record of records) {
    if (record.type === "run_started") sum += state.run?.spend.tokens ?? 0;
    state = reduce(state, record, rules);
  }
  return sum + (state.run?.spend.tokens ?? 0);
}

/** What providers counted, in a session and all below it. */
function reallySpent(world: World, id: string): number {
  const answers = [id, ...childrenOf(world, id)]
    .flatMap((one) => world.journal.read(one))
    .filter((record) => record.type === "model_finished" || record.type === "summary_finished");
  const tokens = ({ usage: used }: (typeof answers)[number]["message"]): number =>
    (used?.inputTokens ?? 0) + (used?.outputTokens ?? 0);
  return answers.reduce((sum, { message }) => sum + tokens(message), 0);
}

/** Every session of a world, from its first life to its last. */
async function history(world: World, preset: string): Promise<string[]> {
  await lives(world, preset, "s", 1 + world.chance.below(4));
  const begun = (id: string): boolean => world.journal.read(id).length > 0;
  for (const id of world.sessions)
    if (id !== "s" && begun(id)) await lives(world, preset, id, world.chance.below(3));
  return [...world.sessions].filter(begun);
}

/** P4: writes that were started twice, whoever started them, and in whichever life. */
const twice = ({ writes }: World): string[] => writes.filter((key, at) => writes.indexOf(key) !== at);

test.each(Object.keys(presets))(
  "%s: whoever dies, and wherever, the next goes on as if nobody had",
  async (preset) => {
    for (let trial = 0; trial < 10; trial += 1) {
      const world = new World(preset, trial);
      for (const id of await history(world, preset)) await judge(world, preset, id);
      expect(twice(world), `trial ${trial}`).toEqual([]);
    }
  },
);

test("a write that the loop takes for something that may be repeated is noticed", async () => {
  const repeated: string[] = [];
  for (let trial = 0; trial < 10; trial += 1) {
    const world = new World("default", trial, true);
    await history(world, "default");
    repeated.push(...twice(world));
  }
  expect(repeated).not.toEqual([]);
});
