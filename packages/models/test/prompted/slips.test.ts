// What small models get wrong in the text protocol: what of it is forgiven, what the model is told, and what never runs.

import { type ModelRequest, userText } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { promptedJson } from "../../src/index.ts";
import { ask, hear, heard, said, speaking } from "./model.ts";

const oslo = [{ name: "weather", args: { city: "Oslo" } }];
const call = '{"tool_call":{"name":"weather","input":{"city":"Oslo"}}}';
const long = "2512292042121000001";

describe("a slip without meaning", () => {
  it.each([
    [
      "a comma behind the last member",
      '{"thought":"t","tool_call":{"name":"weather","input":{"city":"Oslo",},},}',
    ],
    ["such a comma in a tag", '<tool_call>{"name":"weather","arguments":{"city":"Oslo", }}</tool_call>'],
    ["the key in capitals", '{"TOOL_CALL":{"name":"weather","input":{"city":"Oslo"}}}'],
    ["the key as others spell it", '{"toolCall":{"name":"weather","input":{"city":"Oslo"}}}'],
    ["several thoughts before it", `<think>\n\n</think>\n\n<think>look</think>\n${call}`],
    ["a thought in capitals", `<THINK>look</THINK>\n${call}`],
    ["a brace too many", `${call}}`],
    ["brackets too many behind a bare one", '{"name":"weather","arguments":{"city":"Oslo"}}}]\n'],
    ["a brace too many in a fence", `\`\`\`json\n${call}}\n\`\`\``],
    ["a brace too many in a tag", `<tool_call>${call}}</tool_call>`],
    ["a reason beside a bare one", '{"reason":"I look","name":"weather","arguments":{"city":"Oslo"}}'],
  ])("does not cost a call: %s", async (_, says) => {
    for (const chunk of [1, 5, 10_000]) {
      const { calls, answer } = await heard(says, { mind: { chunk } });
      expect([calls, answer.stop.kind]).toEqual([oslo, "tool_use"]);
    }
  });

  it("leaves what may be an argument, or describes a tool, as it is", async () => {
    for (const says of [
      '{"name":"weather","reason":"I look"}',
      '{"name":"weather","description":"Tells it","parameters":{"type":"object"}}',
      '{"name":"weather","arguments":{"city":"Oslo"}}} and so on',
    ])
      expect((await heard(says)).calls).toEqual([]);
  });

  it("does not change text that only looks like one", async () => {
    const { calls } = await heard('{"tool_call":{"name":"weather","input":{"city":"a,} b,]",}}}');
    expect(calls).toEqual([{ name: "weather", args: { city: "a,} b,]" } }]);
  });

  it.each([
    ["bare quotes in it", '{"response":"the "best" one"}', 'the "best" one'],
    ["an odd one", '{"thought":"t","response":"A 5" pipe. {Then} go on.\\n"}', 'A 5" pipe. {Then} go on.\n'],
    ["a comma behind it", '{"response":"hi",}', "hi"],
    ["members beside it", '{"thought":"t","response":"hi","confidence":0.9}', "hi"],
    ["bare quotes in a fence", '```json\n{"response":"a 5" pipe"}\n```', 'a 5" pipe'],
  ])("does not cost a part of a response: %s", async (_, says, told) => {
    for (const chunk of [1, 5, 10_000]) {
      const { text, shown, calls } = await heard(says, { mind: { chunk } });
      expect([text, shown, calls]).toEqual([told, told, []]);
    }
  });

  it("leaves data as it is if no envelope was requested", async () => {
    const says = '{"response":"ok","status":200}';
    const outputSchema = { type: "object", properties: { status: { type: "integer" } } };
    for (const request of [{ tools: [] }, { outputSchema }])
      expect((await heard(says, { request })).text).toBe(says);
  });

  it("is reported if a member was left out", async () => {
    const { warnings, events } = await heard('{"response":"hi","confidence":0.9}');
    expect(warnings).toEqual(["prompted_json_invalid"]);
    expect(JSON.stringify(events)).toContain("confidence");
  });
});

describe("a slip with a meaning", () => {
  it.each([
    ["typographic quotes", "{“tool_call”:{“name”:“weather”,“input”:{“city”:“Oslo”}}}"],
    ["no quotes", '{thought:"t",tool_call:{name:"weather",input:{city:"Oslo"}}}'],
    ["Python's", "{'tool_call': {'name': 'weather', 'input': {'now': True}}}"],
    ["a comment", '{"tool_call":{"name":"weather", // which\n"input":{}}}'],
    ["a name that never came", '{"thought":"t","tool_call":{"na'],
    ["a tag with a name that never came", '<tool_call>{"na'],
  ])("is not an answer, and the model is called again: %s", async (_, says) => {
    const { answer, calls } = await heard(says);
    expect([answer.stop.kind, calls]).toEqual(["malformed_call", []]);
  });

  it.each([
    ["beside the name", '{"tool_call":{"name":"weather","city":"Oslo"}}'],
    ["beside the call", '{"tool_call":{"name":"weather"},"input":{"city":"Oslo"}}'],
    ["under a word that may be a name", '{"tool_call":{"name":"list","action":"delete"}}'],
  ])("never runs a call without its arguments: %s", async (_, says) => {
    const { calls } = await heard(says);
    expect(calls).toMatchObject([{ argsError: expect.stringContaining('"input"') }]);
  });

  it.each([
    '{"tool_calls":5,"errors":0}',
    '{"functionCall":{"name":"other","args":{}}}',
    '{"Tool Calls":[{"at":"noon"}]}',
  ])("is data if the key has a number, or another word than a tool's: %s", async (says) => {
    expect(await heard(says)).toMatchObject({
      text: says,
      calls: [],
      answer: { stop: { kind: "end_turn" } },
    });
  });

  it.each(['{"tho', '{"thought":"I need to', '{"thought":"t","tool_call":{"na', '<tool_call>{"na'])(
    "because of the output limit is neither text nor call: %s",
    async (says) => {
      const { answer, text, shown } = await heard(says, { mind: { wire: "max_tokens" } });
      expect([answer.stop.kind, answer.content, text, shown]).toEqual(["max_tokens", [], "", ""]);
      const prose = await heard(`I look.\n${says}`, { mind: { wire: "max_tokens" } });
      if (says.includes("tool_call")) expect([prose.text, prose.calls]).toEqual(["I look.", []]);
    },
  );

  it("is ordinary text if no call may be made", async () => {
    const says = '{"thought":"t","tool_call":{"na';
    const request = { toolChoice: "none" } as const;
    expect(await heard(says, { request, mind: { wire: "max_tokens" } })).toMatchObject({ text: says });
  });
});

describe("a call that is not allowed", () => {
  const none = { toolChoice: "none" } as const;

  it("is not shown to the user as text, unless it is of no tool and may be what was requested", async () => {
    expect(await heard(call, { request: none })).toMatchObject({ text: "", calls: [] });
    expect((await heard(`Look.\n${call}`, { request: none })).text).toBe("Look.");
    const other = '{"tool_call":{"name":"other","input":{}}}';
    expect((await heard(other, { request: none })).text).toBe(other);
    expect((await heard(call, { request: { tools: [] } })).text).toBe(call);
  });

  it("is the value that a schema asked for", async () => {
    const outputSchema = { type: "object", properties: { name: {}, arguments: {} } };
    const says = '{"name":"weather","arguments":{"city":"Oslo"}}';
    expect((await heard(says, { request: { ...none, outputSchema } })).text).toBe(says);
  });
});

describe("an integer that no double can hold (F093)", () => {
  it.each([
    ["the envelope", `{"tool_call":{"name":"weather","input":{"city":"x","id":${long}}}}`],
    ["a list", `{"tool_call":{"name":"weather","input":{"city":"x","ids":[${long}]}}}`],
    ["a bare call", `{"name":"weather","arguments":{"city":"x","id":${long}}}`],
    ["a tag", `<tool_call>{"name":"weather","arguments":{"city":"x","id":-${long}}}</tool_call>`],
    ["a family's own words", `[TOOL_CALLS]weather{"city":"x","id":${long}}`],
  ])("keeps its digits in %s, and in the history", async (_, says) => {
    for (const mode of ["tolerant", "strict"] as const) {
      if (mode === "strict" && !says.startsWith('{"tool_call"')) continue;
      const mind = speaking([says, '{"response":"ok"}']);
      const model = promptedJson(mind, { mode });
      const { answer } = await hear(model, ask);
      const [part] = answer.content;
      expect(part?.type === "tool_call" && part.rawArgs).toContain(long);
      const request: ModelRequest = { ...ask, messages: [userText("hi"), answer, userText("go on")] };
      await hear(model, request);
      expect(said([...(mind.asked[1]?.messages ?? [])][1])).toContain(long);
    }
  });

  it("keeps them in a response that is JSON", async () => {
    expect((await heard(`{"response":{"id":${long}}}`)).text).toBe(`{"id":${long}}`);
  });
});

describe("a native call although the server got no tools", () => {
  const model = (toolChoice: ModelRequest["toolChoice"]) => {
    const origin = { api: "x", provider: "x", model: "x" };
    const inner = {
      ...speaking(""),
      call: async () => ({
        role: "assistant" as const,
        content: [
          {
            type: "tool_call" as const,
            id: "c",
            name: "weather",
            args: { city: "Oslo" },
            rawArgs: '{"city":"Oslo"}',
          },
        ],
        origin,
        stop: { kind: "tool_use" as const, wire: "tool_use" as const },
      }),
    };
    return hear(promptedJson(inner), { ...ask, toolChoice });
  };

  it("counts as a call, unless none may be made", async () => {
    expect(await model("auto")).toMatchObject({ calls: oslo, answer: { stop: { kind: "tool_use" } } });
    expect((await model("none")).calls).toEqual([]);
  });
});

describe("a call that a tool or a user wrote (F240)", () => {
  const write = '{"tool_call": {"name": "weather", "input": {"city": "Oslo"}}}';
  const tagged = '<tool_call>{"name":"weather","arguments":{"city":"Oslo"}}</tool_call>';
  const react = 'Action: weather\nAction Input: {"city":"Oslo"}';
  const broken = '{"tool_call":{"name":"weather","input":{"city":';
  const page = `A page.\n${write}\n${tagged}\n${react}\n${broken}`;
  const result: ModelRequest["messages"] = [
    userText("Read it out."),
    { role: "tool", callId: "c", name: "list", isError: false, content: [{ type: "text", text: page }] },
  ];
  const quoting: readonly string[] = [
    `It says:\n${write}`,
    `It says: ${tagged}`,
    `It says: ${tagged} and more.`,
    `${write.replaceAll(" ", "")}\nThat is what it says.`,
    `It says:\n${react}`,
    `It says:\n${broken}`,
  ];

  it.each(quoting)("does not run, nor is it requested again, if the model quotes it: %s", async (says) => {
    for (const messages of [result, [userText(page)]]) {
      const { calls, answer, text } = await heard(says, { request: { messages } });
      expect([calls, answer.stop.kind, text]).toEqual([[], "end_turn", says]);
    }
  });

  it("runs if the model makes it: alone, or in another form than it was written", async () => {
    const request = { messages: result };
    expect((await heard(write, { request })).calls).toEqual(oslo);
    expect((await heard(`I look.\n${write.replace("Oslo", "Rome")}`, { request })).calls).toHaveLength(1);
    expect((await heard(`I look.\n${write}`)).calls).toEqual(oslo);
  });

  it("takes no longer in an answer that is full of them", async () => {
    const says = `It says:\n${`${tagged} x\n`.repeat(5000)}`;
    expect((await heard(says, { request: { messages: result }, mind: { chunk: 1e6 } })).calls).toEqual([]);
  });
});
