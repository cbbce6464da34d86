import { Agent, tool } from "@rondo/core";
import { expect, test } from "vitest";
import { call, refuse, say, scripted, stop } from "../../testkit/src/index.ts";

test("a paused answer and its continuation are one answer, and its text is all of both", async () => {
  const model = scripted([
    [say("Searching."), stop("pause")],
    [say(" Still."), stop("pause")],
    [say(" Found.")],
  ]);
  const { text, steps, messages } = await new Agent({ model }).run("go");
  expect(text).toBe("Searching. Still. Found.");
  expect(steps).toBe(1);
  expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "assistant", "assistant"]);
});

test("text before a pause is not part of later answers", async () => {
  const model = scripted([
    [say("First."), call("gone")],
    [say("Paused."), stop("pause")],
    [say(" Rest."), call("gone")],
    [say("Last.")],
  ]);
  const { text } = await new Agent({ model }).run("go");
  expect(text).toBe("Last.");
});

test.each([
  ["a refusal", [refuse("I will not.")], "I will not."],
  ["a filtered answer", [say("Half of"), stop("content_filter")], "Half of"],
  ["a refusal without a word", [stop("refusal")], "so far"],
])("at the limit %s becomes the run's text, and is not stored", async (_what, last, told) => {
  const model = scripted([[say("so far"), call("gone")], last]);
  const { text, end, messages } = await new Agent({ model, maxSteps: 1 }).run("go");
  expect([text, end?.reason, end?.landed]).toEqual([told, "max_steps", true]);
  expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "tool"]);
});

test("if the output is typed, a refusal at the limit leaves the earlier text to be checked", async () => {
  const output = { type: "object", properties: { a: { type: "number" } } } as const;
  const model = scripted([[say('{"a":1}'), call("gone")], refuse("I will not.")]);
  const { text, end } = await new Agent({ model, maxSteps: 1, output }).run("go");
  expect([text, end?.reason]).toEqual(['{"a":1}', "max_steps"]);
});

test("typed output that was cut off at the output limit is an output error, however much of it there is", async () => {
  const model = scripted([[say('{"items":[1,2'), stop("max_tokens")]]);
  const output = { type: "object", properties: { items: { type: "array" } } };
  const { end, output: value } = await new Agent({ model, output }).run("go");
  expect(end).toMatchObject({ reason: "truncated", error: { kind: "structured_output" } });
  expect(value).toBeUndefined();
});

test("a call of an unknown tool gets a result that lists the known ones", async () => {
  const model = scripted([[call("constructor")], [say("done")]]);
  const { messages } = await new Agent({ model }).run("go");
  expect(JSON.stringify(messages[2])).toContain('unknown tool \\"constructor\\"');
});

test.each([
  ["cut off at the limit, which is raised", "max_tokens"],
  ["malformed", "malformed_call"],
] as const)(
  "a complete call in an answer that was %s runs once, when it is requested again",
  async (_, word) => {
    const ran: unknown[] = [];
    const write = tool({
      name: "write",
      description: "w",
      inputSchema: {},
      execute: (args) => ran.push(args),
    });
    const model = scripted(
      [[call("write", { path: "a" }), stop(word)], [call("write", { path: "a" })], [say("done")]],
      { facts: { maxOutputTokens: 1_000 } },
    );
    const agent = new Agent({ model, tools: [write], settings: { maxOutputTokens: 100 } });
    const { text, messages } = await agent.run("go");
    expect(text).toBe("done");
    expect(ran).toEqual([{ path: "a" }]);
    expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "assistant"]);
  },
);
