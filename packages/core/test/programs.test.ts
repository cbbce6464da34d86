// Random programs over the public face of a session. Whatever is called at whatever moment, on one object of it or on several:
// every promise settles, nothing is lost or said twice, no call runs twice, and every reader reads the same.

import { isPaired, type Session, textOf } from "@rondo/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyProgram, type Program } from "./programs/moves.ts";
import { isA, World } from "./programs/world.ts";

async function play(program: Program): Promise<void> {
  const world = new World(program);
  await world.open();
  for (const step of program.steps) await world.step(step);
  const session = await world.end();

  const full = program.journal === "refuses once" ? ["storage" as const] : [];
  // It was not the moment for it, another object was faster, or the disk was full.
  for (const { move, outcome } of world.called)
    if (typeof outcome === "object" && !isA(outcome.error, "invalid_request", "conflict", ...full))
      throw new Error(`${move} rejects`, { cause: outcome.error });
  expect(new Set(world.ran).size).toBe(world.ran.length);
  for (const { messages } of world.requests) expect(isPaired(messages)).toBe(true);
  demandMessages(world, session);
  await demandSame(world, session);
}

function demandMessages(world: World, { messages, queued }: Session): void {
  const texts = [...messages, ...queued.map(({ message }) => message)].map(textOf);
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

async function demandSame(world: World, session: Session): Promise<void> {
  const other = await world.agent().open("s");
  expect(other.messages).toEqual(session.messages);
  expect(other.result).toEqual(session.result);
  expect(isPaired(other.messages)).toBe(true);
  const { difference, today } = await other.replay();
  expect([difference, today]).toEqual([undefined, undefined]);
}

test("whatever is done with a session, at whatever moment", async () => {
  await fc.assert(fc.asyncProperty(anyProgram, play), { numRuns: 200 });
}, 60_000);
