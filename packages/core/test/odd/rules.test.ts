// Rules that throw: the run ends, and says which rule it was.

import { Agent, isPaired, memoryJournal, type Rule, type StopRule, subAgent } from "@rondo/core";
import { call, calls, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { echo, quick } from "../support.ts";

const fail = (): never => {
  throw new TypeError("no such thing");
};

test.each<[string, Rule | StopRule]>([
  ["decide", { name: "mine", version: 1, decide: fail }],
  ["judge", { name: "mine", version: 1, judge: fail }],
  ["judgeCall", { name: "mine", version: 1, judgeCall: fail }],
  ["judgeStart", { name: "mine", version: 1, judgeStart: fail }],
  ["init", { name: "mine", version: 1, init: fail, fold: () => 0 }],
  ["fold", { name: "mine", version: 1, fold: fail }],
  ["fold", { name: "mine", version: 1, fold: (_memory, { type }) => type === "tool_started" && fail() }],
  ["fold", { name: "mine", version: 1, fold: (_memory, { type }) => type === "turn_judged" && fail() }],
  ["wakeAt", { name: "mine", version: 1, wakeAt: fail }],
  ["wakeAt", { name: "mine", version: 1, wakeAt: (_memory, { run }) => (run?.call ? fail() : undefined) }],
])(
  "a rule that throws in %s ends the run and is named, and the session goes on without it",
  async (moment, rule) => {
    const journal = memoryJournal();
    const options = { tools: [echo("look")], journal, ...quick };
    const script = (): ReturnType<typeof scripted> =>
      scripted([calls([["look"], ["look", { at: 1 }]]), call("look"), say("done")], { repeatLast: true });
    const session = await new Agent({ ...options, model: script(), rules: [rule] }).open("s");
    const { end } = await session.send("go");
    expect(end).toMatchObject({
      reason: "error",
      rule: "mine",
      error: { kind: "internal", message: `the rule mine failed in ${moment}: no such thing` },
    });
    expect([session.status, isPaired(session.messages)]).toEqual(["idle", true]);
    expect(journal.read("s").filter((record) => record.type === "run_ended")).toHaveLength(1);
    const mended = await new Agent({ ...options, model: script() }).open("s");
    expect((await mended.send("again")).end?.reason).toBe("completed");
  },
);

const notWords: [string, Record<string, (...given: never[]) => unknown>, string][] = [
  [
    "judgeCall",
    { judgeCall: () => ({ do: "deny" }) },
    '{ do: "run" } or { do: "answer", code, text }, or nothing, is needed, not an object with do: "deny"',
  ],
  ["judgeCall", { judgeCall: () => "deny" }, 'is needed, not "deny"'],
  ["judgeCall", { judgeCall: async () => undefined }, "is needed, not a promise"],
  ["judgeCall", { judgeCall: () => false }, "is needed, not false"],
  [
    "judgeStart",
    { judgeStart: () => ({ reason: "late" }) },
    "{ code, text }, or nothing, is needed, not an object",
  ],
  ["judgeStart", { judgeStart: () => ({ code: "denied" }) }, "is needed, not an object"],
  ["judgeStart", { judgeStart: () => ({ text: "no" }) }, "is needed, not an object"],
  ["judgeCall", { judgeCall: () => ({ do: "answer", text: "no" }) }, 'not an object with do: "answer"'],
  ["judgeCall", { judgeCall: () => ({ do: "answer", code: "denied" }) }, 'not an object with do: "answer"'],
  [
    "judgeCall",
    { judgeCall: () => ({ do: "deny", code: "denied", text: "no" }) },
    'not an object with do: "deny"',
  ],
  [
    "judgeCall",
    { judgeCall: () => ({ do: "answer", code: "because", text: "no" }) },
    'hook_failed is needed for a code, not "because"',
  ],
  [
    "judgeStart",
    { judgeStart: () => ({ code: "toString", text: "no" }) },
    'hook_failed is needed for a code, not "toString"',
  ],
  [
    "judgeStart",
    { judgeStart: () => ({ code: "denied", text: "no", evidence: { at: 1n } }) },
    "evidence.at is a bigint, and JSON has no such value",
  ],
  [
    "judge",
    { judge: () => ({ follows: { do: "act" }, evidence: {}, answerAll: { code: "no", text: () => "no" } }) },
    'hook_failed is needed for a code, not "no"',
  ],
  ["judge", { judge: () => true }, "is needed, not true"],
  ["judge", { judge: () => null }, "is needed, not null"],
  ["judge", { judge: () => ({ follows: { do: "go" }, evidence: {} }) }, "is needed, not an object"],
  [
    "judge",
    { judge: () => ({ follows: { do: "ask_again", nudge: "Again." }, evidence: {} }) },
    "is needed, not an object",
  ],
  [
    "judge",
    { judge: () => ({ follows: { do: "ask_again", note: 5 }, evidence: {} }) },
    "is needed, not an object",
  ],
  ...[{ do: "land" }, { do: "nudge" }, { do: "hide_tool" }, { do: "shout", text: "so", tool: "look" }].map(
    (says): [string, Record<string, () => unknown>, string] => [
      "decide",
      { decide: () => ({ ...says, evidence: {} }) },
      `not an object with do: "${says.do}"`,
    ],
  ),
  ["judge", { judge: () => ({ follows: "act", evidence: {} }) }, "is needed, not an object"],
  [
    "decide",
    { decide: () => ({ do: "stopp", reason: "turn_stopped", evidence: {} }) },
    'is needed, not an object with do: "stopp"',
  ],
  ["decide", { decide: () => "stop" }, 'is needed, not "stop"'],
  [
    "decide",
    { decide: () => ({ do: "land", reason: "because", evidence: {} }) },
    'turn_stopped, aborted, error is needed for a reason, not "because"',
  ],
  [
    "judge",
    { judge: () => ({ follows: { do: "stop", reason: "because" }, evidence: {} }) },
    'is needed for a reason, not "because"',
  ],
  ["judge", { judge: () => ({ follows: { do: "stop" }, evidence: {} }) }, "is needed, not an object"],
  [
    "wakeAt",
    { wakeAt: () => "soon", decide: () => undefined },
    'a time in milliseconds since 1970, or nothing, is needed, not "soon"',
  ],
  ["wakeAt", { wakeAt: async () => 5, decide: () => undefined }, "is needed, not a promise"],
  ["wakeAt", { wakeAt: () => Number.NaN, decide: () => undefined }, "is needed, not NaN"],
  ["wakeAt", { wakeAt: () => 0, decide: () => null }, "is needed, not null"],
];

test.each(notWords)(
  "a rule that returns an invalid value in %s has failed: no call runs despite it",
  async (moment, says, words) => {
    const ran: unknown[] = [];
    const look = echo("look", { execute: (args) => void ran.push(args) });
    const rule = { name: "mine", version: 1, ...says } as unknown as Rule;
    const model = scripted([call("look"), say("done")], { repeatLast: true });
    const { end } = await new Agent({ model, tools: [look], rules: [rule], ...quick }).run("go");
    expect(end?.error?.message).toMatch(new RegExp(`^the rule mine failed in ${moment}: `));
    expect(end?.error?.message.endsWith(words), end?.error?.message).toBe(true);
    expect(ran).toEqual([]);
  },
);

test.each<[unknown, string]>([
  [5, "5"],
  [Promise.resolve(true), "a promise"],
  [{ stop: true }, "an object"],
])("a stop rule that says %j has failed, and is told what it said", async (said, words) => {
  const rule = { mine: () => said as boolean }.mine;
  const model = scripted([call("look"), say("done")], { repeatLast: true });
  const { end } = await new Agent({ model, tools: [echo("look")], rules: [rule], ...quick }).run("go");
  expect(end?.error?.message).toBe(
    `the rule mine failed in decide: a text, true or false, at once, is needed, not ${words}`,
  );
});

test("a rule that returns a verdict to run lets the call run", async () => {
  const rule: Rule = { name: "mine", version: 1, judgeCall: () => ({ do: "run" }) };
  const model = scripted([call("look"), say("done")]);
  const { end, steps } = await new Agent({ model, tools: [echo("look")], rules: [rule], ...quick }).run("go");
  expect([end?.reason, steps]).toEqual(["completed", 2]);
});

test("a rule that throws in left ends the run and is named", async () => {
  const child = new Agent({ model: scripted([say("found")]) });
  const tools = [subAgent({ name: "ask", description: "Asks another", agent: child })];
  const rule: Rule = { name: "mine", version: 1, left: fail };
  const model = scripted([call("ask", { task: "look" }), say("done")]);
  const session = await new Agent({ model, tools, rules: [rule], ...quick }).open("s");
  const { end } = await session.send("go");
  expect(end?.error?.message).toBe("the rule mine failed in left: no such thing");
  expect(isPaired(session.messages)).toBe(true);
});

test("a rule that throws while an aborted run ends its sub-agent does not delay the end", async () => {
  const press = echo("press", { permission: "ask" });
  const child = new Agent({ model: scripted([call("press")]), tools: [press] });
  const tools = [subAgent({ name: "ask", description: "Asks another", agent: child })];
  const rule: Rule = {
    name: "mine",
    version: 1,
    wakeAt: (_memory, { run }) => (run?.abort ? fail() : undefined),
  };
  const model = scripted([call("ask", { task: "look" })]);
  const session = await new Agent({ model, tools, rules: [rule], ...quick }).open("s");
  await session.send("go");
  session.abort("enough");
  await session.settled();
  expect(session.result?.end?.reason).toBe("aborted");
});

test("a rule that throws in fold ends a run that another process left, once it is resumed", async () => {
  const journal = memoryJournal();
  const options = { tools: [echo("look", { permission: "ask" })], journal, ...quick };
  const model = scripted([call("look"), say("done")]);
  await (await new Agent({ ...options, model }).open("s")).send("go");
  const rule: Rule = { name: "mine", version: 1, fold: fail };
  const session = await new Agent({ ...options, model, rules: [rule] }).open("s");
  const { end } = await session.resume();
  expect(end?.error?.message).toBe("the rule mine failed in fold: no such thing");
  expect(session.status).toBe("idle");
});

test("a type of record that a rule names without a function is not passed to it", async () => {
  const rule: unknown = { name: "mine", version: 1, init: () => 0, fold: { turn_judged: undefined } };
  const { end } = await new Agent({ model: scripted([say("done")]), rules: [rule as Rule] }).run("go");
  expect(end?.reason).toBe("completed");
});

test("a rule that names types of records gets only those, and is called as a method", async () => {
  class Counting {
    readonly name = "mine";
    readonly version = 1;
    readonly by = 2;
    init(): number {
      return 0;
    }
    readonly fold = {
      turn_judged(this: Counting, count: number, record: { type: string }): number {
        expect(record.type).toBe("turn_judged");
        return count + this.by;
      },
    };
    judge(count: number): undefined {
      seen.push(count);
    }
  }
  const seen: number[] = [];
  const model = scripted([call("look"), call("look"), say("done")]);
  await new Agent({ model, tools: [echo("look")], rules: [new Counting() as Rule] }).run("go");
  expect(seen).toEqual([0, 2, 4]);
});

test("a rule does not get records from before the first run, because it has no memory yet", async () => {
  const told: unknown[] = [];
  const rule: Rule<string[]> = {
    name: "mine",
    version: 1,
    init: () => [],
    fold: (memory, { type }) => {
      told.push(type);
      return [...memory, type];
    },
  };
  const session = await new Agent({ model: scripted([say("a"), say("b")]), rules: [rule as Rule] }).open("s");
  session.followUp("and then");
  await session.allow({ tool: "look" });
  expect(told).toEqual([]);
  expect((await session.send("go")).end?.reason).toBe("completed");
  expect(told.slice(0, 1)).toEqual(["model_started"]);
});
