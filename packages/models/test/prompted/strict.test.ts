import { Agent, type Message, type ModelFacts, type StopKind, tool } from "@rondo/core";
import { thinkActObserve, trace } from "@rondo/core/presets";
import { say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { promptedJson } from "../../src/index.ts";
import { errorFrom } from "../transport/loopback.ts";
import { ask, heard, list, said, speaking, weather } from "./model.ts";

const strict = { mode: "strict" } as const;
const echo = tool({ name: "echo", description: "Echoes", inputSchema: z.object({}), execute: () => "echo" });

describe("the strict text protocol", () => {
  test("A4.24 the key tool_call gives a tool_use with one call", async () => {
    const { answer, calls } = await heard('{"tool_call":{"name":"weather","input":{"city":"Oslo"}}}', strict);
    expect(calls).toEqual([{ name: "weather", args: { city: "Oslo" } }]);
    expect(answer.stop).toMatchObject({ kind: "tool_use", wire: "tool_use" });
  });

  test("A4.24 anything else ends the turn with the text of response, whatever the stop word is", async () => {
    const { answer, text } = await heard('{"thought":"t","response":"Sunny."}', {
      ...strict,
      mind: { wire: "max_tokens" },
    });
    expect(text).toBe("Sunny.");
    expect(answer.stop).toMatchObject({ kind: "end_turn", wire: "end_turn" });
  });

  test.each([
    '```json\n{"response":"ok"}\n```',
    '```\n{"response":"ok"}\n```',
    '  ```json\n{"response":"ok"}\n```  \n',
    '```json\n{"response":"ok"}',
    '{"response":"ok"}\n```',
    '\n {"response":"ok"} \n',
  ])("A4.25 blanks, a fence's first line and its last are removed: %j", async (says) => {
    expect((await heard(says, strict)).text).toBe("ok");
  });

  test.each(["{}", "null", '""', "0", "false", "[]"])(
    "A4.25 a tool_call of %s does not count",
    async (empty) => {
      const { text, calls } = await heard(`{"tool_call":${empty},"response":"r"}`, strict);
      expect([text, calls]).toEqual(["r", []]);
    },
  );

  test("A4.25 input is {} by default, and the text of a call is its thought", async () => {
    const { text, calls } = await heard('{"thought":"look","tool_call":{"name":"list"}}', strict);
    expect([text, calls]).toEqual(["look", [{ name: "list", args: {} }]]);
  });

  test("A4.25 without a thought a call has no text", async () => {
    const { answer } = await heard('{"tool_call":{"name":"list","input":{}}}', strict);
    expect(answer.content.map((part) => part.type)).toEqual(["tool_call"]);
  });

  test("A4.25 with neither key the raw text is the answer", async () => {
    const { text, warnings } = await heard('{"thought":"only"}', strict);
    expect([text, warnings]).toEqual(['{"thought":"only"}', []]);
  });

  test("A4.25 of invalid JSON the whole text is the answer, and a warning says so", async () => {
    const says = 'Sure: {"tool_call":{"name":"list"}}';
    const { text, calls, answer, events } = await heard(says, strict);
    expect([text, calls, answer.stop.kind]).toEqual([says, [], "end_turn"]);
    const warning = events.find((event) => event.type === "warning");
    expect(warning).toMatchObject({ code: "prompted_json_invalid" });
    expect(warning?.type === "warning" && warning.message).toMatch(/^Failed to parse JSON response: \S/);
  });

  test("A4.25 the trace shows invalid JSON in one line", async () => {
    const lines: string[] = [];
    const model = promptedJson(scripted([say("no JSON")]), { mode: "strict" });
    await new Agent(thinkActObserve({ model })).run("go", {
      onEvent: trace({ to: (line) => lines.push(line) }),
    });
    expect(
      lines.filter((line) => line.startsWith("[LLM] Warning: Failed to parse JSON response: ")),
    ).toHaveLength(1);
  });

  test.each([
    ['{"tool_call":{"input":{}}}', "malformed_tool_call"],
    ['{"tool_call":"list"}', "malformed_tool_call"],
    ["[1]", "protocol"],
    ["5", "protocol"],
  ])("A4.25 %s makes the call fail without a retry", async (says, kind) => {
    const model = promptedJson(speaking(says), strict);
    const error = await errorFrom(model.call(ask, { signal: new AbortController().signal, emit: () => {} }));
    expect([error.kind, error.retryable]).toEqual([kind, false]);
  });

  test("A4.26 the system template contains each tool, with blank lines between, and the rules; your system prompt is ignored", async () => {
    const model = speaking('{"response":"ok"}');
    await promptedJson(model, strict).call(ask, { signal: new AbortController().signal, emit: () => {} });
    const system = model.asked[0]?.system ?? "";
    expect(system).toContain(
      [weather, list]
        .map(
          (tool) =>
            `- ${tool.name}: ${tool.description}\n  Parameters: ${JSON.stringify(tool.inputSchema, null, 2)}`,
        )
        .join("\n\n"),
    );
    expect(system).toContain("always with valid JSON only");
    expect(system).toContain("tool_call or response, never both");
    expect(system).not.toContain("Be short.");
    expect(model.asked[0]?.tools).toEqual([]);
  });

  test("A4.27 an answer is sent back as its JSON, with its first call only; a result is the user's JSON", async () => {
    const origin = { api: "x", provider: "x", model: "x" };
    const stop = { kind: "tool_use", wire: "tool_use" } as const;
    const call = (id: string, name: string): Message["content"][number] => ({
      type: "tool_call",
      id,
      name,
      args: { city: "Oslo" },
      rawArgs: '{"city":"Oslo"}',
    });
    const messages: Message[] = [
      { role: "user", content: [{ type: "text", text: "hi <|im_end|>" }] },
      {
        role: "assistant",
        content: [{ type: "text", text: "look" }, call("1", "weather"), call("2", "list")] as never,
        origin,
        stop,
      },
      {
        role: "tool",
        callId: "1",
        name: "weather",
        content: [{ type: "text", text: "sunny" }],
        isError: true,
      },
      { role: "tool", callId: "2", name: "list", content: [{ type: "text", text: "a" }], isError: false },
      { role: "assistant", content: [{ type: "text", text: "Done." }], origin, stop },
    ];
    const model = speaking('{"response":"ok"}');
    await promptedJson(model, strict).call(
      { ...ask, messages },
      { signal: new AbortController().signal, emit: () => {} },
    );
    expect([...(model.asked[0]?.messages ?? [])].map((message) => [message.role, said(message)])).toEqual([
      ["user", "hi <|im_end|>"],
      ["assistant", '{"thought":"look","tool_call":{"name":"weather","input":{"city":"Oslo"}}}'],
      ["user", '{"tool_result":{"name":"weather","result":"sunny"}}'],
      ["user", '{"tool_result":{"name":"list","result":"a"}}'],
      ["assistant", '{"thought":"","response":"Done."}'],
    ]);
  });

  test.each<[string, ModelFacts, string, boolean]>([
    [
      "by a tool where the server knows no schema",
      {},
      '{"thought":"like {\\"city\\":\\"Oslo\\"}","tool_call":{"name":"final_output","input":{"city":"Rome"}}}',
      true,
    ],
    ["by the server's own means", { output: "native" }, '{"city":"Rome"}', false],
  ])(
    "a typed output is asked for %s, since the protocol has no words for one",
    async (_, facts, says, told) => {
      const model = speaking(['{"response":"It is Rome."}', says], { facts });
      const output = z.object({ city: z.string() });
      const agent = new Agent({ model: promptedJson(model, strict), tools: [echo], output });
      expect((await agent.run("Where?")).output).toEqual({ city: "Rome" });
      expect(model.asked[1]?.system?.includes('"city"')).toBe(told);
      expect(model.asked[1]?.outputSchema !== undefined).toBe(!told);
    },
  );

  test("a schema with the envelope's own members is not taken for an envelope", async () => {
    const model = speaking('{"response":"Rome"}', { facts: { output: "native" } });
    const output = z.object({ response: z.string() });
    const agent = new Agent({ model: promptedJson(model, strict), output });
    expect((await agent.run("Where?")).output).toEqual({ response: "Rome" });
  });

  test.each<[string, StopKind, object]>([
    ['{"city":"Rome"}', "max_tokens", { end: { reason: "truncated" } }],
    ['{"city":"Rome"}', "content_filter", { end: { reason: "refused" } }],
    ["[1]", "end_turn", { end: { reason: "output_invalid" } }],
  ])(
    "a typed output keeps what cut it off, and one that is no object may be asked for again: %s, %s",
    async (says, wire, expected) => {
      const model = speaking(says, { facts: { output: "native" }, wire });
      const output = z.object({ city: z.string() });
      const agent = new Agent({ model: promptedJson(model, strict), output });
      expect(await agent.run("Where?")).toMatchObject(expected);
    },
  );
});
