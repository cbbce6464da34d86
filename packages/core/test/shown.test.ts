// What a run shows of itself: whoever writes into it is stopped at once, and what happened stays what it was.

import { Agent, type CallView, type Hooks, memoryJournal, type Session } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, quick } from "./support.ts";

/** Writes into everything there is in a value. Says what could be written. */
function scribble(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key) => {
    const at = `${path}/${key}`;
    const deeper = scribble((value as Record<string, unknown>)[key], at);
    try {
      (value as Record<string, unknown>)[key] = "scribbled";
      return [at, ...deeper];
    } catch {
      return deeper;
    }
  });
}

const script = (): ReturnType<typeof scripted> =>
  scripted([call("look", { at: { line: 1 } }), say("done"), say("again")]);

const open = (more: object = {}): Promise<Session> =>
  new Agent({ model: script(), tools: [echo("look")], ...quick, ...more }).open("s");

/** The session's history as text, without what a scribble could reach. */
const told = (session: Session): string => JSON.stringify([...session.state.history]);

describe("messages that are returned", () => {
  test("are the history itself, frozen; the list is the reader's own", async () => {
    const session = await open();
    const { messages } = await session.send("go");
    const before = told(session);
    expect(messages.flatMap((message) => scribble(message))).toEqual([]);
    expect(session.messages.flatMap((message) => scribble(message))).toEqual([]);
    messages.length = 0;
    session.messages.pop();
    expect(told(session)).toBe(before);
    expect(before).not.toContain("scribbled");
    expect((await session.send("more")).end?.reason).toBe("completed");
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test.each<[keyof Hooks, (hear: (messages: unknown) => void) => Hooks]>([
    ["prepareStep", (hear) => ({ prepareStep: ({ messages }) => hear(messages) as undefined })],
    ["transformContext", (hear) => ({ transformContext: (messages) => hear(messages) as undefined })],
    ["onFinish", (hear) => ({ onFinish: ({ messages }) => hear(messages) as undefined })],
  ])("to %s are as safe", async (_name, hooksOf) => {
    const written: string[] = [];
    const hear = (messages: unknown): void => {
      written.push(...(messages as unknown[]).flatMap((message) => scribble(message)));
    };
    const session = await open({ hooks: hooksOf(hear) });
    expect((await session.send("go")).end?.reason).toBe("completed");
    expect([written, told(session).includes("scribbled")]).toEqual([[], false]);
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test("may be used as the history of another run", async () => {
    const { messages } = await (await open()).send("go");
    const model = scripted([say("so")]);
    const { messages: more } = await new Agent({ model }).run(messages);
    expect(more).toHaveLength(messages.length + 1);
  });
});

test("make a hook fail that changes them, and its run says so", async () => {
  const hooks: Hooks = {
    transformContext(messages) {
      messages[0]?.content.pop();
      return undefined;
    },
  };
  const { end } = await (await open({ hooks })).send("go");
  expect(end?.error?.message).toMatch(/^the transformContext hook failed: Cannot delete property/);
});

test("are the reader's own for a run that cannot be continued", async () => {
  const { messages } = await new Agent({ model: script(), tools: [echo("look")], ...quick }).run("go");
  expect(messages.flatMap((message) => scribble(message))).not.toEqual([]);
});

test("a waiting call runs with the arguments it was judged by, even if a reader changed what was returned of it", async () => {
  const ran: unknown[] = [];
  const look = echo("look", { permission: "ask", execute: (args: unknown) => void ran.push(args) });
  const session = await open({ tools: [look] });
  const heard: CallView[] = [];
  session.subscribe((event) => {
    if (event.type !== "approval_request") return;
    heard.push(event.call);
    expect(scribble(event.call.args)).toEqual([]);
  });
  const { parked } = await session.send("go");
  for (const view of [...(parked?.pending ?? []), ...session.pending])
    expect(scribble(view.args)).toEqual([]);
  expect(heard).toHaveLength(1);
  await session.approve(session.pending[0]?.id ?? "");
  expect(ran).toEqual([{ at: { line: 1 } }]);
});

test("an output is the reader's own, and so is the usage", async () => {
  const output = { type: "object", properties: { name: { type: "object" } } } as const;
  const agent = new Agent({
    model: scripted([say('{"name":{"first":"Ada"}}')]),
    output,
    journal: memoryJournal(),
  });
  const session = await agent.open("s");
  const first = await session.send("go");
  scribble(first.output);
  scribble(first.usage);
  expect(session.result?.output).toEqual({ name: { first: "Ada" } });
  expect(JSON.stringify(session.result?.usage)).not.toContain("scribbled");
});
