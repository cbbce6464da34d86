// Random programs over the public face of a session. Whatever is called at whatever moment, on one object of it or on several:
// every promise settles, nothing is lost or said twice, no call runs twice, and every reader reads the same.

import { type ForkOptions, isPaired, type Session, textOf } from "@rondo/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyProgram, type Program } from "./programs/moves.ts";
import { isA, World } from "./programs/world.ts";

async function play(program: Program): Promise<void> {
  const world = new World(program);
  await world.open();
  for (const step of program.steps) await world.step(step);
  const session = await world.end();

  const full = program.journal.fault === "none" ? [] : ["storage" as const];
  // It was not the moment for it, another object was faster, or the disk was full.
  for (const { move, outcome } of world.called)
    if (typeof outcome === "object" && !isA(outcome.error, "invalid_request", "conflict", ...full))
      throw new Error(`${move} rejects`, { cause: outcome.error });
  expect(new Set(world.ran).size).toBe(world.ran.length);
  for (const { messages } of world.requests) expect(isPaired(messages)).toBe(true);
  demandMessages(world, session);
  // Of several objects each hears only its own, and what a drain leaves begins again.
  const isAlone = world.called.every(({ move }) => !["open", "takeOver", "drain"].includes(move));
  for (const heard of world.heard.values())
    expect(heard.all.filter((problem) => isAlone || problem.startsWith("shown"))).toEqual([]);
  await demandSame(world, "s", session);
  // What the only object knows of all that was written is what the journal tells another.
  for (const one of isAlone ? world.sessions : [])
    if (one.state.seq === session.state.seq && !world.lost.has(one))
      expect(whatIn(one)).toEqual(whatIn(session));
  // A sub-agent that could not be ended in time is left to the next run of its parent.
  const left: string[] = [];
  const open: string[] = [];
  for (const id of world.family().sort((a, b) => a.length - b.length)) {
    if (left.some((one) => id === one || id.startsWith(`${one}:`))) continue;
    const one = await demandSame(world, id);
    left.push(...(one.state.left ?? []).map(({ session: child }) => child));
    if (one.status !== "idle") open.push(id);
  }
  expect(open).toEqual([]);
  if (left.length > 0) return;
  demandSpent(world, session);
}

const whatIn = ({ messages, result, spent, queued, grants, pending, state }: Session): unknown => ({
  messages,
  result,
  spent,
  queued,
  grants,
  pending,
  state: JSON.parse(JSON.stringify(state)) as unknown,
});

/** What a session has spent is what the models of all its sub-agents told, each answer once. */
function demandSpent(world: World, { spent }: Session): void {
  const below = world.family().filter((id) => id !== "s");
  // Who did not end in its grace tells too late what it spent.
  if (
    below.flatMap(world.records).some((one) => one.type === "late_result" && one.result?.spent !== undefined)
  )
    return;
  const records = world.family().flatMap(world.records);
  let tokens = 0;
  for (const record of records) {
    const usage =
      record.type === "model_finished" || record.type === "summary_finished"
        ? record.message.usage
        : record.type === "model_failed" || record.type === "summary_failed"
          ? record.usage
          : undefined;
    tokens += (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  }
  const begun = new Set(records.flatMap((record) => (record.type === "tool_started" ? [record.child] : [])));
  begun.delete(undefined);
  expect({ tokens: spent.tokens, agents: spent.agents }).toEqual({ tokens, agents: begun.size });
}

function demandMessages(world: World, { messages, queued }: Session): void {
  // What is told may also be the answer to a question, as a result.
  const said = messages.filter(({ role }) => role !== "tool");
  const texts = [...said, ...queued.map(({ message }) => message)].map(textOf);
  const { lost } = world;
  // Whoever was refused once, because another object was faster or the disk was full, tells so at the next call.
  for (const { session, outcome } of world.called)
    if (typeof outcome === "object" && isA(outcome.error, "conflict", "storage")) lost.add(session);
  world.sent.forEach(({ text, session, called, withdrawn }, at) => {
    const times = texts.filter((one) => one.includes(text)).length;
    const may = at < world.shortened || lost.has(session) || (called && called.outcome !== "resolved");
    const [least, most] = withdrawn ? [0, 0] : may ? [0, 1] : [1, 1];
    if (times < least || times > most)
      throw new Error(`"${text}" is in the conversation ${times} times, not ${least} to ${most}`);
  });
}

async function demandSame(world: World, id: string, session?: Session): Promise<Session> {
  const other = await world.through(world.agent(id.split(":").length - 1).open(id));
  if (session !== undefined) {
    expect(other.messages).toEqual(session.messages);
    expect(other.result).toEqual(session.result);
  }
  expect(isPaired(other.messages)).toBe(true);
  const { difference, today } = await other.replay();
  expect([difference, today]).toEqual([undefined, undefined]);
  return other;
}

test("whatever is done with a session, at whatever moment", async () => {
  await fc.assert(fc.asyncProperty(anyProgram, play), { numRuns: 80 });
}, 60_000);

/** Forks a session at every third of all the places where it can be forked, and ends each fork. */
async function forkEverywhere(world: World, nth: number): Promise<void> {
  const records = world.records("s");
  const before = JSON.stringify(records);
  const steps = records.filter(({ type }) => type === "model_started").length;
  const results = records.flatMap((record) => (record.type === "tool_finished" ? [record.call] : []));
  const points: ForkOptions[] = [
    {},
    ...records.map((_, at) => ({ seq: at + 1 })),
    ...Array.from({ length: steps }, (_, at) => ({ at: at + 1 })),
    ...results.map((call) => ({ edit: { call, result: "another result" } })),
  ];
  for (const [i, point] of points.entries()) {
    if (i % 3 !== nth % 3) continue;
    const id = `f${i}`;
    const agent = world.agent();
    try {
      await world.through(agent.fork("s", id, point));
    } catch (error) {
      if (!isA(error, "invalid_request")) throw error;
      continue;
    }
    const shared = world.records(id).slice(0, -1);
    if (point.edit === undefined && point.at === undefined)
      expect(shared).toEqual(records.slice(0, shared.length));
    const fork = await world.through(agent.open(id));
    expect(isPaired(fork.messages)).toBe(true);
    expect((await world.through(fork.replay())).difference).toBeUndefined();
    const ended = await world.finish(id);
    expect(isPaired(ended.messages)).toBe(true);
    const { difference, today } = await world.through(ended.replay());
    expect([difference, today]).toEqual([undefined, undefined]);
    const next = await world.finish(id);
    expect(next.messages).toEqual(ended.messages);
    expect(next.result).toEqual(ended.result);
  }
  expect(JSON.stringify(world.records("s"))).toBe(before);
  expect(new Set(world.ran).size).toBe(world.ran.length);
}

async function playForks(program: Program, nth: number, isCut: boolean): Promise<void> {
  const world = new World(program);
  await world.open();
  for (const step of program.steps) await world.step(step);
  if (isCut) {
    world.crash();
    await world.settled();
    world.mend();
  } else await world.end();
  await forkEverywhere(world, nth);
}

test("wherever a session is forked, it stays as it is, and its fork ends", async () => {
  await fc.assert(fc.asyncProperty(anyProgram, fc.nat(2), fc.boolean(), playForks), { numRuns: 8 });
}, 60_000);
