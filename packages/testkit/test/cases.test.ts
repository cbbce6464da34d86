import { type AgentOptions, tool } from "@rondo/core";
import { anthropic, openaiCompatible } from "@rondo/models";
import { type RondoWire, runCases } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";

const weather = tool({
  name: "weather",
  description: "Weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effect: "read",
  execute: ({ city }) => `${city}: rain`,
});

const onOpenai = (wire: RondoWire): AgentOptions => ({
  model: openaiCompatible({ model: "gpt-5", baseURL: wire.urlFor("openai"), apiKey: "any" }),
  tools: [weather],
  retry: { baseMs: 1, attempts: 2 },
});
const onAnthropic = (wire: RondoWire): AgentOptions => ({
  ...onOpenai(wire),
  model: anthropic("claude-sonnet-5", { baseURL: wire.urlFor("anthropic"), apiKey: "any" }),
});

async function results(
  cases: readonly object[],
  agent: (wire: RondoWire) => AgentOptions,
): Promise<{ [id: string]: string[] }> {
  const told: { [id: string]: string[] } = {};
  const text = cases.map((one) => JSON.stringify(one)).join("\n");
  for await (const { id, reasons } of runCases(text, { agent })) told[id] = reasons;
  return told;
}

const sse = (...data: readonly object[]): string =>
  data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
const chunk = (delta: object, finish_reason: string | null): object => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "gpt-5",
  choices: [{ index: 0, delta, finish_reason }],
});

describe("cases", () => {
  it("say in words, or in a provider's own bytes, what is sent and what must come of it", async () => {
    const called = { calls: [["weather", { city: "Oslo" }]], spent: { steps: 2 }, requests: [null, {}] };
    const cases = [
      {
        id: "words",
        turns: [{ call: "weather", args: { city: "Oslo" } }, "It rains."],
        expect: { end: "completed", text: { pattern: "rains\\.$" }, ...called },
      },
      {
        id: "broken",
        turns: [{ status: 401 }],
        expect: { end: { reason: "error", error: { kind: "auth" } }, calls: [] },
      },
      {
        id: "again",
        turns: [[{ say: "half" }, { cutAt: { frames: 2 }, how: "reset" }], "whole"],
        expect: { end: "completed", text: "whole", requests: [null, null] },
      },
    ];
    expect(await results(cases, onAnthropic)).toEqual({ words: [], broken: [], again: [] });
    const bytes = {
      id: "bytes",
      turns: [
        {
          raw: `${sse(
            chunk(
              {
                role: "assistant",
                tool_calls: [
                  {
                    index: 0,
                    id: "call_a",
                    type: "function",
                    function: { name: "weather", arguments: '{"ci' },
                  },
                ],
              },
              null,
            ),
            chunk({ tool_calls: [{ index: 0, function: { arguments: 'ty":"Oslo"}' } }] }, null),
            // It says stop, and means its call.
            chunk({}, "stop"),
          )}data: [DONE]\n\n`,
          headers: { "content-type": "text/event-stream" },
        },
        "It rains.",
      ],
      expect: { end: "completed", text: "rains", ...called },
    };
    expect(await results([...cases, bytes], onOpenai)).toEqual({
      words: [],
      broken: [],
      again: [],
      bytes: [],
    });
  });

  it("that do not come out say why, and in which chunking", async () => {
    const turns = [{ call: "weather", args: { city: "Oslo" } }, "It rains."];
    const told = await results(
      [
        { id: "end", turns, expect: { end: "max_steps" } },
        { id: "calls", turns, expect: { calls: [] } },
        { id: "order", turns, expect: { calls: [["weather", { city: "Rome" }]] } },
        { id: "request", turns, expect: { requests: [{ model: "other" }] } },
        { id: "short", turns: turns.slice(0, 1), expect: { text: "rains" } },
      ],
      onOpenai,
    );
    expect(told.end?.[0]).toMatch(/by frame: expected the result to end as max_steps; it ended as completed/);
    expect(told.calls).toEqual(["by frame: the model made 1 calls, not 0"]);
    expect(told.order?.[0]).toMatch(/there was no weather \{"city":"Rome"\}/);
    expect(told.request?.join()).toMatch(
      /2 requests went out, not 1.*body\.model is "gpt-5", wanted "other"/s,
    );
    expect(told.short?.join()).toMatch(/script/);
  });

  it("go by their own ids, wherever in the line these stand", async () => {
    const one = {
      turns: [{ call: "weather", args: { city: "Oslo" }, id: "call_9" }, "It rains."],
      id: "mine",
    };
    expect(await results([{ ...one, expect: { end: "completed" } }], onOpenai)).toEqual({ mine: [] });
    const lines = JSON.stringify({ ...one, expect: { end: "completed" } });
    const others = runCases(lines, { agent: onOpenai, only: new Set(["call_9"]) });
    expect((await others.next()).done).toBe(true);
  });

  it("that cannot be read fail by name, and none is taken that expects nothing", async () => {
    const told: { [id: string]: string[] } = {};
    const text =
      '{"id": "a", "turns": [], "expect": {"ends": "completed"}}\n{"id": "b", "turns": [], "expect": {}}\nnot JSON\n{"id": "c", "turns": [{"sing": 1}], "expect": {"end": "completed"}}';
    for await (const { id, reasons } of runCases(text, { agent: onOpenai })) told[id] = reasons;
    expect(told).toEqual({
      a: ["there is no member expect.ends in a case"],
      b: ["the case expects nothing"],
      "line 3": [expect.stringMatching(/JSON/)],
      c: [expect.stringMatching(/turns\[0\].*holds no word/)],
    });
    const shaped = await results(
      [
        { expect: { text: { patern: "^It" } } },
        { expect: { text: { pattern: "(" } } },
        { expect: { text: 5 } },
        { expect: { calls: "weather" } },
        { expect: { requests: [5] } },
        { expect: { spent: {} } },
        { expect: [1] },
        5,
      ].map(
        (one, at) =>
          (typeof one === "object" ? { id: String(at), turns: ["It rains."], ...one } : one) as object,
      ),
      onOpenai,
    );
    expect(Object.values(shaped).map(([first]) => first)).toEqual([
      expect.stringMatching(/expect: option text\.patern: there is no such option; .*pattern/),
      expect.stringContaining('expect: option text.pattern: a regular expression is needed, not "("'),
      expect.stringContaining("expect: option text: an object is needed, not 5"),
      expect.stringContaining('expect: option calls: a list is needed, not "weather"'),
      expect.stringContaining("expect: option requests[0]: an object or null is needed, not 5"),
      expect.stringContaining("a number that was spent ({ steps: 3 }) is needed, and nothing is given"),
      'a case is an object, { "id", "turns", "expect" }, and what it expects is one',
      'a case is an object, { "id", "turns", "expect" }, and what it expects is one',
    ]);
    const only = runCases(text, { agent: onOpenai, only: new Set(["b"]) });
    expect((await only.next()).value).toMatchObject({ id: "b" });
    expect((await only.next()).done).toBe(true);
  });

  it("are the text of a file, with or without the mark in front that some editors write", async () => {
    const line = '\ufeff{"id": "marked", "turns": ["x"], "expect": {"text": "x"}}\r\n';
    expect((await runCases(line, { agent: onOpenai }).next()).value).toEqual({ id: "marked", reasons: [] });
    await expect(runCases(5 as unknown as string, { agent: onOpenai }).next()).rejects.toThrow(
      "runCases: option lines: a text is needed, not 5",
    );
  });
});
