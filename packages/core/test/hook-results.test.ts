// Results that hooks give fill no window: they are cut like a tool's, and the whole of them can be read.

import {
  Agent,
  type AgentOptions,
  blobRef,
  type Hooks,
  type LogRecord,
  memoryJournal,
  type RondoEvent,
  replay,
  resolve,
  type ToolMessage,
  textOf,
} from "@rondo/core";
import { call, calls, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, jumpingClock } from "./support.ts";

const lines = (count: number, word = "line"): string =>
  Array.from({ length: count }, (_, at) => `${word} ${at + 1}`).join("\n");
const bytes = 200;
const large = lines(1_000, "given");
const ref = blobRef(large);

/** A run of one call and another that reads what was kept under a ref. */
async function run(hooks: Hooks, more: Partial<AgentOptions> = {}, output = "small", reads = ref) {
  const journal = memoryJournal();
  const turns = [call("look"), call("read_output", { ref_id: reads, offset: 998, limit: 1 }), say("done")];
  const tools = [echo("look", { execute: () => output })];
  const options = { tools, hooks, journal, context: { cap: { bytes } }, ...more };
  const model = scripted(turns);
  const session = await new Agent({ ...options, model }).open("s");
  const events: RondoEvent[] = [];
  session.subscribe((event) => void events.push(event));
  const { messages } = await session.send("go");
  const results = messages.filter((one): one is ToolMessage => one.role === "tool");
  const records: LogRecord[] = journal.read("s");
  const { rules } = resolve({ ...options, model });
  expect(replay(records, rules).firstDifference).toBeUndefined();
  // Whoever folds it anew knows the same, and so does a fork.
  const again = await new Agent({ ...options, model: scripted([]) }).open("s");
  expect(again.state.outputs.length).toBe(session.state.outputs.length);
  expect(again.messages).toEqual(session.messages);
  return { texts: results.map((one) => textOf(one)), results, events, records, session, model, journal };
}

/** Only for the call of `look`: the reader tools' calls are left alone. */
const forLook = (hooks: Hooks): Hooks => ({
  ...(hooks.beforeTool && {
    beforeTool: (view, context) => (view.name === "look" ? hooks.beforeTool?.(view, context) : undefined),
  }),
  ...(hooks.afterTool && {
    afterTool: (view, result, context) =>
      view.name === "look" ? hooks.afterTool?.(view, result, context) : undefined,
  }),
});

describe("a large result that a hook gives", () => {
  test.each<[string, Hooks]>([
    ["in place of running the call", { beforeTool: () => ({ result: large }) }],
    ["in place of the tool's", { afterTool: () => ({ content: large }) }],
  ])("%s is cut, told, kept whole, and read by the model", async (_where, hooks) => {
    const { texts, results, events, records, session, model, journal } = await run(forLook(hooks));
    expect(texts[0]).toMatch(/^given 1\ngiven 2\n/);
    expect(texts[0]?.length).toBeLessThan(2 * bytes);
    expect(texts[0]).toContain(ref);
    expect(results[0]?.ref).toBe(ref);
    expect(texts[1]).toMatch(/^ {2}999 {2}given 999\n/);
    expect(model.requests.map((one) => one.tools.some(({ name }) => name === "read_output"))).toEqual([
      false,
      true,
      true,
    ]);
    const told = events.filter((event) => event.type === "context");
    expect(told).toMatchObject([{ stage: "cap", before: large.length, note: expect.stringContaining(ref) }]);
    // What stands in the records is what the model was sent.
    const answered = records.filter((one) => one.type === "hook_answered" && "result" in one);
    expect(answered).toMatchObject([{ result: { ref, capped: { bytes: large.length, lines: 1_000 } } }]);
    expect(session.state.ledger.entries).toMatchObject([{ entry: { kind: "output", ref, tool: "look" } }]);
    const fork = await session.fork("t");
    expect([...fork.state.outputs]).toEqual([ref]);
    expect(await journal.blobs.get("t", ref)).toBe(large);
  });

  test("is stored without its secrets, also if one would be cut in two", async () => {
    const secret = "hunter2-hunter2-hunter2";
    const whole = `${"x".repeat(bytes - 5)}${secret}\n${large}`;
    const clean = whole.replace(secret, "***REDACTED***");
    const redact = { secrets: [secret] };
    const hooks = forLook({ beforeTool: () => ({ result: whole }) });
    const { texts, records } = await run(hooks, { redact }, "small", blobRef(clean));
    expect(texts[0]).not.toContain("hunter");
    expect(texts[1]).toMatch(/^ {2}999 {2}given 998\n/);
    expect(JSON.stringify(records)).not.toContain("hunter");
  });

  test("of an exempt tool, or without a cap, is left as it is", async () => {
    const hooks = forLook({ afterTool: () => ({ content: large }) });
    for (const context of [{ cap: { bytes, exempt: ["look"] } }, { cap: null }])
      expect((await run(hooks, { context })).texts[0]).toBe(large);
  });

  test("that is the error of a failed hook is cut too", async () => {
    const hooks = forLook({
      afterTool: () => {
        throw new Error(large);
      },
    });
    const { texts, results } = await run(hooks, {}, "small", "none");
    expect(results[0]?.isError).toBe(true);
    expect(texts[0]?.length).toBeLessThan(2 * bytes);
  });

  test("is stored in full if every result is, also one that fits", async () => {
    const hooks = forLook({ afterTool: () => ({ content: "fits" }) });
    const { results } = await run(hooks, { context: { cap: { bytes, keep: "every" } } });
    expect(results[0]).toMatchObject({ ref: blobRef("fits"), content: [{ text: "fits" }] });
  });
});

test("of two calls that hooks answer is cut by the rules for each tool", async () => {
  const model = scripted([calls([["look"], ["peek"]]), say("done")]);
  const tools = [echo("look"), echo("peek")];
  const hooks: Hooks = { beforeTool: () => ({ result: large }) };
  const context = { cap: { bytes, exempt: ["look"] } };
  const { messages } = await new Agent({ model, tools, hooks, context }).run("go");
  const [looked = "", peeked = ""] = messages.filter(({ role }) => role === "tool").map(textOf);
  expect([looked === large, peeked.length < 2 * bytes]).toEqual([true, true]);
});

test("an afterTool hook that returns the same result changes nothing", async () => {
  let give = (_given: { result: string }): void => {};
  const hooks: Hooks = {
    beforeTool: () =>
      new Promise((resolve) => {
        give = resolve;
      }),
  };
  const landing = async () => {
    give({ result: large });
    await new Promise((resolve) => setImmediate(resolve));
    return say("in short");
  };
  const model = scripted(({ toolChoice }) => (toolChoice === "none" ? landing() : call("look")));
  const budget = { ms: 5_000 };
  const agent = new Agent({ model, tools: [echo("look")], hooks, budget, clock: jumpingClock(0.5) });
  const { end, text } = await agent.run("go");
  expect([end?.reason, end?.landed, text]).toEqual(["deadline", true, "in short"]);
});

test("a model that repeats a call which a hook answers is told so, and lands", async () => {
  const model = scripted(({ toolChoice }) => (toolChoice === "none" ? say("given up") : call("look")));
  const tools = [echo("look")];
  const hooks: Hooks = { beforeTool: () => ({ result: "not now" }) };
  const { end, steps } = await new Agent({ model, tools, hooks }).run("go");
  expect([end?.reason, end?.rule]).toEqual(["no_progress", "repeats"]);
  expect(steps).toBeLessThan(10);
});

describe("a result that a hook makes of one that was cut", () => {
  const output = lines(1_000);
  const own = blobRef(output);

  test.each<[string, Hooks["afterTool"]]>([
    [
      "adds to it",
      (_call, { content }) => ({ content: [...content, { type: "text", text: "by the hook" }] }),
    ],
    [
      "writes it otherwise",
      (_call, { content }) => ({
        content: `${textOf({ content } as ToolMessage).replaceAll("line", "LINE")}by the hook`,
      }),
    ],
  ])(
    "is not cut again where it %s: the whole of the tool's is what can be read",
    async (_what, afterTool) => {
      const { texts, results, events, session } = await run(
        forLook({ ...(afterTool && { afterTool }) }),
        {},
        output,
        own,
      );
      expect(texts[0]).toMatch(/by the hook$/);
      expect(texts[0]).toContain(own);
      expect(results[0]?.ref).toBe(own);
      expect(texts[1]).toMatch(/^ {2}999 {2}line 999\n/);
      expect(events.filter((event) => event.type === "context")).toHaveLength(1);
      expect([...session.state.outputs]).toEqual([own]);
    },
  );

  test("is cut if it adds more than a result may have, and both full texts can be read", async () => {
    const added = `${"y".repeat(20)}\n${large}`;
    const { results, session, events } = await run(
      forLook({ afterTool: () => ({ content: added }) }),
      {},
      output,
      own,
    );
    expect(results[0]?.ref).toBe(blobRef(added));
    expect(session.state.outputs.length).toBe(2);
    expect(events.filter((event) => event.type === "context")).toHaveLength(2);
    const fork = await session.fork("t");
    expect([...fork.state.outputs]).toEqual([own, blobRef(added)]);
  });
});
