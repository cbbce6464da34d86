// What no journal can hold (a bigint, a circle) is met where it comes in, in every journal alike: refused by its place
// where somebody gave it, and the failure of the rule or the tool whose word it was.

import { Agent, type Json, memoryJournal, type Rule, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo } from "../support.ts";

const circle: { self?: unknown } = {};
circle.self = circle;
/** As somebody gives it who has no types. */
const given = (value: unknown): never => value as never;
const opened = () => new Agent({ model: scripted([say("done")]), tools: [echo("press")] }).open("s");

describe("a given value that cannot be stored is refused with its place", () => {
  const refused: readonly (readonly [string, () => unknown, string])[] = [
    [
      "a member of a part",
      () => new Agent({ model: scripted([]) }).run([given({ type: "text", text: "a", mine: 1n })]),
      "part 0 cannot be used: mine is a bigint, and JSON has no such value",
    ],
    [
      "an argument in a history",
      () =>
        new Agent({ model: scripted([]) }).run([
          { role: "user", content: [] },
          given({
            role: "assistant",
            content: [{ type: "tool_call", id: "1", name: "t", args: circle, rawArgs: "{}" }],
          }),
        ]),
      "message 1 cannot be used: content[0].args.self is a circle",
    ],
    [
      "a member of a word to the run",
      async () => (await opened()).steer([given({ type: "text", text: "a", mine: circle })]),
      "part 0 cannot be used: mine.self is a circle",
    ],
    [
      "the id of one",
      async () => (await opened()).followUp("more", given(7)),
      "followUp: option id: a text is needed, not 7",
    ],
    [
      "a reason",
      async () => (await opened()).deny("x", given(1n)),
      "deny: option reason: a text is needed, not 1",
    ],
    [
      "a pattern of leave",
      async () => (await opened()).allow({ tool: "press", args: { exact: given({ n: 1n }) } }),
      "allow: args.exact.n is a bigint",
    ],
    [
      "a provider's option",
      () => new Agent({ model: scripted([]), settings: { providerOptions: { mine: given({ at: 1n }) } } }),
      "option settings.providerOptions: mine.at is a bigint",
    ],
    [
      "what a program says of itself",
      () => new Agent({ model: scripted([]), about: given(circle) }),
      "option about: self is a circle",
    ],
    [
      "a schema in a circle",
      () =>
        tool({
          name: "t",
          description: "t",
          inputSchema: given({ type: "object", properties: circle }),
          execute: () => "",
        }),
      'tool "t": option inputSchema: properties.self is a circle',
    ],
  ];

  test.each(refused)("%s", async (_what, give, message) => {
    const refusal = { kind: "invalid_request", message: expect.stringContaining(message) };
    await expect((async () => give())()).rejects.toMatchObject(refusal);
  });
});

describe("a misspelt limit or point would not apply, and is refused by name", () => {
  test("of a grant: it would be valid for ever, and for any number of calls", async () => {
    const session = await opened();
    for (const [misspelt, meant] of [
      [{ use: 1 }, "uses"],
      [{ untill: 5 }, "until"],
      [{ arg: { exact: {} } }, "args"],
    ] as const)
      await expect(session.allow({ tool: "press", ...misspelt })).rejects.toMatchObject({
        kind: "invalid_request",
        message: `allow: option ${Object.keys(misspelt)[0]}: there is no such option; did you mean ${meant}?`,
      });
    expect(session.grants).toEqual([]);
    const { id } = await session.allow({ tool: "press", uses: 2 });
    const [held] = session.grants;
    expect(await session.allow({ ...held, id, tool: "press" })).toEqual({ id, tool: "press", uses: 2 });
  });

  test.each([
    [{ At: 1 }, "fork: option At: there is no such option; did you mean at?"],
    [{ at: "1" }, 'fork: option at: a whole number above 0 is needed, not "1"'],
    [{ edit: { call: "1.0" } }, "fork: option edit.result: "],
    [
      { edit: { call: "1.0", result: { content: "text" } } },
      "fork: option edit.result: a text, or a result with its",
    ],
    [{ edit: { call: "1.0", result: { content: [{ n: 1n }], isError: false } } }, "content[0].n is a bigint"],
  ])("of a fork: it would share the whole session, %#", async (options, words) => {
    const journal = memoryJournal();
    const agent = new Agent({ model: scripted([say("done")]), journal });
    const session = await agent.open("s");
    await session.send("go");
    const refusal = { kind: "invalid_request", message: expect.stringContaining(words) };
    await expect(session.fork("t", given(options))).rejects.toMatchObject(refusal);
    await expect(agent.fork("s", "t", given(options))).rejects.toMatchObject(refusal);
    expect(journal.read("t")).toEqual([]);
  });
});

test("keys that are no strings count as unknown keys: the call runs alone, and its run continues", async () => {
  const press = echo("press", { effect: "write", keys: () => given([1n]) });
  const { end, toolCalls } = await new Agent({
    model: scripted([call("press"), say("done")]),
    tools: [press],
  }).run("go");
  expect([end?.reason, toolCalls]).toEqual(["completed", 1]);
});

test("a rule whose evidence cannot be stored ends its run, and is named", async () => {
  const rules: Rule[] = [
    {
      name: "mine",
      version: 1,
      decide: () => ({ do: "stop", reason: "turn_stopped", evidence: { at: given(1n) } }),
    },
    { name: "mine", version: 1, judge: () => ({ follows: { do: "finish" }, evidence: given(circle) }) },
    {
      name: "mine",
      version: 1,
      judgeCall: () => ({ do: "answer", code: "repeated", text: "no", evidence: { at: given(1n) as Json } }),
    },
  ];
  for (const [rule, moment] of [
    [rules[0], "decide"],
    [rules[1], "judge"],
    [rules[2], "judgeCall"],
  ] as const) {
    const { end } = await new Agent({
      model: scripted([call("look"), say("done")]),
      tools: [echo("look")],
      rules: [rule as Rule],
    }).run("go");
    expect([end?.reason, end?.error?.message]).toEqual([
      "error",
      expect.stringMatching(
        new RegExp(`^the rule mine failed in ${moment}: evidence\\S* is a (bigint|circle)`),
      ),
    ]);
  }
});
