// A tool's `permission` as a function: each call's own, from its arguments.

import {
  Agent,
  type AgentOptions,
  memoryJournal,
  type RunResult,
  subAgent,
  type Tool,
  textOf,
  tool,
  toolWith,
} from "@rondo/core";
import { call, say, scripted, type Turn } from "@rondo/testkit";
import { describe, expect, expectTypeOf, test } from "vitest";

type Says = "allow" | "ask" | "deny";

const made: number[] = [];

const pay = (permission: (args: { cents: number }) => Says): Tool =>
  tool({
    name: "pay",
    description: "Pays",
    inputSchema: { type: "object", properties: { cents: { type: "number" } }, required: ["cents"] },
    permission,
    execute: ({ cents }) => {
      made.push(cents);
      return `paid ${cents}`;
    },
  });

const careful = pay(({ cents }) => (cents > 1_000 ? "deny" : cents > 100 ? "ask" : "allow"));

const agentOf = (
  script: readonly Turn[],
  given: Tool = careful,
  options: Partial<AgentOptions> = {},
): Agent => new Agent({ model: scripted(script), tools: [given], journal: memoryJournal(), ...options });

const toldOf = ({ messages }: RunResult): string[] =>
  messages.flatMap((one) => (one.role === "tool" ? [textOf(one)] : []));

describe("a permission that is a function", () => {
  test("decides for each call", async () => {
    const script = [
      [call("pay", { cents: 5 }), call("pay", { cents: "500" }), call("pay", { cents: 5_000 })],
      say("done"),
    ];
    const session = await agentOf(script as Turn[]).open("s");
    const { parked } = await session.send("go");
    expect(parked?.pending.map(({ args }) => args)).toEqual([{ cents: 500 }]);
    const run = await session.approve(parked?.pending[0]?.id ?? "");
    expect(toldOf(run)).toEqual(["paid 5", "paid 500", expect.stringMatching(/denied/i)]);
    expect(run.text).toBe("done");
  });

  test("is asked once a call, and its answer holds in another process that would answer otherwise", async () => {
    const asked: number[] = [];
    const counting = pay(({ cents }) => {
      asked.push(cents);
      return "ask";
    });
    const journal = memoryJournal();
    const script = [call("pay", { cents: 5 }), say("done")];
    const { parked } = await (await agentOf(script, counting, { journal }).open("s")).send("go");
    expect([asked, parked?.pending.length]).toEqual([[5], 1]);
    const other = await agentOf(
      script,
      pay(() => "allow"),
      { journal },
    ).open("s");
    expect(other.pending.map(({ args }) => args)).toEqual([{ cents: 5 }]);
  });

  test("may be a sub-agent's: it decides from the arguments of the call", async () => {
    const worker = new Agent({ model: scripted(() => say("sunny")) });
    const weather = subAgent({
      name: "weather",
      description: "Asks about the weather",
      agent: worker,
      inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      permission: ({ city }) => {
        expectTypeOf(city).toEqualTypeOf<string>();
        return city === "Oakland" ? "ask" : "allow";
      },
    });
    const script = [[call("weather", { city: "Rome" }), call("weather", { city: "Oakland" })], say("done")];
    const session = await agentOf(script as Turn[], weather).open("s");
    const { parked } = await session.send("go");
    expect(parked?.pending.map(({ args }) => args)).toEqual([{ city: "Oakland" }]);
    expect(toldOf(await session.approve(parked?.pending[0]?.id ?? ""))).toEqual(["sunny", "sunny"]);
    const given = { name: "a", description: "b", agent: worker, permission: "perhaps" };
    expect(() => subAgent(given as never)).toThrow(
      'sub-agent "a": option permission: one of allow, ask, deny is needed, not "perhaps"',
    );
  });

  test("is asked again about arguments that somebody changed", async () => {
    const edited = agentOf([call("pay", { cents: 5 }), say("done")], careful, {
      hooks: { beforeTool: () => ({ args: { cents: 500 } }) },
    });
    const { parked } = await (await edited.open("s")).send("go");
    expect(parked?.pending.map(({ args }) => args)).toEqual([{ cents: 500 }]);
  });

  test("yields to the agent's hook, except where it denies", async () => {
    const hooks = { permission: () => "allow" as const };
    const script = [[call("pay", { cents: 500 }), call("pay", { cents: 5_000 })], say("done")];
    const run = await agentOf(script as Turn[], careful, { hooks }).run("go");
    expect(toldOf(run)).toEqual(["paid 500", expect.stringMatching(/denied/i)]);
    const silent = await (
      await agentOf(script as Turn[], careful, { hooks: { permission: () => undefined as never } }).open("s")
    ).send("go");
    expect(silent.parked?.pending.map(({ args }) => args)).toEqual([{ cents: 500 }]);
  });

  test.each<[string, (args: never) => unknown, string]>([
    [
      "throws",
      () => {
        throw new Error("no rates today");
      },
      "no rates today",
    ],
    ["returns no permission", () => true, "allow, ask or deny, at once, is needed, not true"],
    ["is late", async () => "allow", "allow, ask or deny, at once, is needed, not a promise"],
  ])("that %s denies the call, and the model reads why", async (_, permission, why) => {
    made.length = 0;
    const run = await agentOf([call("pay", { cents: 5 }), say("done")], pay(permission as never)).run("go");
    expect(toldOf(run)).toEqual([`Permission check failed: ${why}`]);
    expect([made, run.text]).toEqual([[], "done"]);
  });

  test("gives way to the permission that a changed tool has, and stays in any other", async () => {
    const script = [call("pay", { cents: 5_000 }), say("done")];
    expect(toldOf(await agentOf(script, toolWith(careful, { permission: "allow" })).run("go"))).toEqual([
      "paid 5000",
    ]);
    const free = toolWith(careful, { permission: "allow" });
    const own = toolWith(free, {
      permissionOf: ({ cents }: { cents: number }) => (cents > 9 ? "deny" : "allow"),
    });
    expect(toldOf(await agentOf(script, own).run("go"))).toEqual([expect.stringMatching(/denied/i)]);
    expect(toldOf(await agentOf(script, toolWith(careful, { timeoutMs: 5 })).run("go"))).toEqual([
      expect.stringMatching(/denied/i),
    ]);
    expect(
      toldOf(
        await agentOf([call("pay", { cents: 5 }), say("done")], { ...careful, permission: "deny" }).run("go"),
      ),
    ).toEqual([expect.stringMatching(/denied/i)]);
  });

  test("has the types of the arguments", () => {
    tool({
      name: "pay",
      description: "Pays",
      inputSchema: { type: "object", properties: { cents: { type: "number" } }, required: ["cents"] },
      permission: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ cents: number }>();
        return "ask";
      },
      execute: () => "",
    });
  });
});

test("what is approved is what the model wrote, and what runs is checked from that, even if a schema changes what it is given", async () => {
  const ran: unknown[] = [];
  const marks = {
    "~standard": {
      version: 1,
      vendor: "of the tests",
      jsonSchema: { input: () => ({ type: "object", properties: { cents: { type: "number" } } }) },
      validate: (value: { cents: number }) => {
        value.cents += 1;
        return { value };
      },
    },
  };
  const given = tool({
    name: "pay",
    description: "Pays",
    inputSchema: marks as never,
    permission: "ask",
    execute: (args) => {
      ran.push(args);
      return "paid";
    },
  });
  const session = await agentOf([call("pay", { cents: 5 }), say("done")], given).open("s");
  const { parked } = await session.send("go");
  expect(parked?.pending.map(({ args }) => args)).toEqual([{ cents: 5 }]);
  const { messages } = await session.approve(parked?.pending[0]?.id ?? "");
  expect(messages[1]?.content).toMatchObject([{ args: { cents: 5 } }]);
  expect(ran).toEqual([{ cents: 6 }]);
});
